#include "compiler/auto/profile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/analysis/layer.h"
#include "ops/abi/status_macros.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/program.h"

namespace weft::compiler {
namespace {

using plan::Actor;

// What actors of ops without a scope are called.
constexpr char kUnnamed[] = "graph";

class Reader {
public:
  Reader(const plan::Plan &plan, const sim::Report &report)
      : program_(plan::ProgramOf(plan, 0)), report_(report),
        overlap_(std::clamp<int64_t>(plan.header().job().batch().overlap(), 1, program_.micro_batches)) {}

  absl::StatusOr<Profile> read() {
    profile_.isTrained = program_.plan->header().training();
    times();
    WEFT_ASSIGN_OR_RETURN(const std::vector<plan::StageMemory> memory, plan::MeasureMemory(*program_.plan));
    bytes(memory.front());
    return std::move(profile_);
  }

private:
  // "h.0" of the actor "h.0.forward.all_gather#2".
  static std::string pieceOf(const Actor &actor) { return weft::compiler::pieceOf(actor.name()).str(); }

  Piece &at(const std::string &name) {
    auto [it, isNew] = places_.try_emplace(name, profile_.pieces.size());
    if (isNew)
      profile_.pieces.push_back({.name = name});
    return profile_.pieces[it->second];
  }

  // Whether an actor is of ops that have a scope.
  static bool isNamed(const Actor &actor) { return pieceOf(actor) != kUnnamed; }

  bool computes(const Actor &actor) const {
    return program_.stage->streams(actor.stream()).kind() == plan::Stream::COMPUTE;
  }

  // Which piece each actor of the micro-batches is of. As where a pipeline is cut, ops without a scope go with what is
  // before them in the forward, and so in the backward with what comes next.
  void placeActors() {
    size_t last = 0;
    std::map<Actor::Phase, std::vector<int32_t>> open;
    for (const sim::TimedAct &act : report_.acts) {
      const Actor &actor = program_.actor(act.actor);
      if (!computes(actor) || actor.section() != Actor::MICRO || act.micro_batch > 0)
        continue;
      if (actor.phase() == Actor::FORWARD) {
        if (isNamed(actor) || profile_.pieces.empty())
          last = size_t(&at(pieceOf(actor)) - profile_.pieces.data());
        placed_[act.actor] = last;
      } else if (!isNamed(actor)) {
        open[actor.phase()].push_back(act.actor);
      } else {
        const size_t place = size_t(&at(pieceOf(actor)) - profile_.pieces.data());
        placed_[act.actor] = place;
        for (int32_t before : open[actor.phase()])
          placed_[before] = place;
        open[actor.phase()].clear();
      }
    }
  }

  // What nothing names counts with the first.
  Piece &pieceAt(int32_t actor) {
    const auto it = placed_.find(actor);
    return profile_.pieces[it == placed_.end() ? 0 : it->second];
  }

  // The acts of the compute stream follow each other; what it waits for belongs to the act behind.
  void times() {
    placeActors();
    if (profile_.pieces.empty())
      at(kUnnamed);
    const std::vector<bool> &onDevice = program_.on_device;
    const bool hasTiers = std::find(onDevice.begin(), onDevice.end(), false) != onDevice.end();
    double end = 0, micro_s = 0, computed_s = 0;
    for (const sim::TimedAct &act : report_.acts) {
      const Actor &actor = program_.actor(act.actor);
      if (actor.section() == Actor::MICRO && act.micro_batch < overlap_ && actor.kernels_size() > 0 &&
          plan::MovesTier(actor.kernels(0))) {
        Piece &piece = ofName(pieceOf(actor));
        (actor.phase() == Actor::FORWARD ? piece.forwardCopies_s : piece.backwardCopies_s) += act.end_s - act.begin_s;
      }
      if (!computes(actor))
        continue;
      const double seconds = act.end_s - end;
      if (actor.section() == Actor::MICRO) {
        Piece &piece = pieceAt(act.actor);
        const bool forward = actor.phase() == Actor::FORWARD, first = act.micro_batch < overlap_,
                   last = act.micro_batch + overlap_ >= program_.micro_batches;
        if (first)
          (forward ? piece.forward_s : piece.backward_s) += seconds;
        if (first && actor.phase() == Actor::WEIGHT)
          piece.weight_s += seconds;
        micro_s += seconds;
        computed_s += actor.kernels_size() > 0 ? act.end_s - act.begin_s : 0;
        if (last)
          (forward ? piece.lastForward_s : piece.lastBackward_s) += seconds;
      } else {
        const double waited_s = seconds - (act.end_s - act.begin_s);
        profile_.once_s += act.end_s - act.begin_s;
        // For state that comes from a tier: as much as there is of it.
        (hasTiers ? profile_.once_s : profile_.waits_s) += waited_s;
      }
      end = act.end_s;
    }
    // What the host updates, and what is stored at the end.
    (hasTiers ? profile_.once_s : profile_.waits_s) += report_.step_s - end;
    profile_.exposed = micro_s > 0 ? 1 - computed_s / micro_s : 0;
  }

  // The piece that something is of by its name, "h.0.attn.c_attn.weight". Optimizer state is where its parameter is,
  // "adam_m.h.0.attn.c_attn.weight". What is of none counts with the first.
  Piece &ofName(llvm::StringRef name) {
    name = name.split('/').first;
    for (llvm::StringRef of : {name, name.split('.').second}) {
      if (const auto it = places_.find(weft::compiler::pieceOf(of).str()); it != places_.end())
        return profile_.pieces[it->second];
    }
    return profile_.pieces.front();
  }

  void bytes(const plan::StageMemory &memory) {
    const std::vector<plan::Category> categories = plan::CategoriesOf(program_);
    double kept = 0;
    for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
      if (program_.root[b] != b)
        continue;
      const double bytes = double(program_.slot_bytes[b]);
      if (!program_.on_device[b]) {
        Piece &piece = ofName(program_.buffer(b).name());
        (program_.persistent[b] ? piece.lowStateBytes : piece.lowKeptBytes) +=
            bytes * double(program_.buffer(b).slots());
        continue;
      }
      const plan::Category category = categories[b];
      if (category == plan::Category::kParameters || category == plan::Category::kGradients ||
          category == plan::Category::kOptimizer) {
        Piece &piece = ofName(program_.buffer(b).name());
        piece.stateBytes += bytes;
        const plan::Buffer::Kind kind = program_.buffer(b).kind();
        piece.parameterBytes += kind == plan::Buffer::PARAMETER ? bytes : 0;
        piece.lastingBytes += kind == plan::Buffer::PARAMETER || kind == plan::Buffer::OPTIMIZER ? bytes : 0;
      } else if (isWritten(b, Actor::FORWARD) && isRead(b, Actor::BACKWARD, Actor::WEIGHT)) {
        pieceThatWrites(b).keptBytes += double(overlap_) * bytes;
        kept += double(overlap_) * bytes;
      } else if (isWritten(b, Actor::BACKWARD) && isRead(b, Actor::WEIGHT, Actor::WEIGHT)) {
        // Also what is computed again, which the gradients of weights read behind the backward.
        pieceThatWrites(b).weightBytes += double(overlap_) * bytes;
        kept += double(overlap_) * bytes;
      }
    }
    double state = 0;
    for (const Piece &piece : profile_.pieces)
      state += piece.stateBytes;
    profile_.transientBytes = std::max(0.0, double(memory.lower_bound_bytes) - state - kept);
    boundary();
    chain();
  }

  // Whether an actor of a phase makes a buffer in each micro-batch.
  bool isWritten(int32_t buffer, Actor::Phase phase) const {
    const int32_t writer = program_.writer[buffer];
    return writer >= 0 && program_.actor(writer).section() == Actor::MICRO && program_.actor(writer).phase() == phase;
  }

  // The actor that makes a buffer for others in the forward of each micro-batch, or null.
  const Actor *writerOf(int32_t buffer) const {
    return isWritten(buffer, Actor::FORWARD) ? &program_.actor(program_.writer[buffer]) : nullptr;
  }

  Piece &pieceThatWrites(int32_t buffer) {
    const int32_t writer = program_.writer[buffer];
    return isNamed(program_.actor(writer)) ? ofName(pieceOf(program_.actor(writer))) : pieceAt(writer);
  }

  // Also by its views.
  bool isRead(int32_t root, Actor::Phase one, Actor::Phase other) const {
    for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
      if (program_.root[b] != root)
        continue;
      for (int32_t reader : program_.readers[b]) {
        const Actor::Phase phase = program_.actor(reader).phase();
        if (phase == one || phase == other)
          return true;
      }
    }
    return false;
  }

  void chain() {
    std::vector<bool> follows(profile_.pieces.size(), false);
    const auto placeOf = [&](int32_t actor) {
      const auto it = placed_.find(actor);
      return it == placed_.end() ? profile_.pieces.size() : it->second;
    };
    for (int32_t b = 0; b < program_.stage->buffers_size(); ++b) {
      const int32_t writer = program_.writer[program_.SourceOf(b)];
      if (writer < 0 || program_.actor(writer).phase() != Actor::FORWARD)
        continue;
      for (int32_t reader : program_.readers[b]) {
        const size_t place = placeOf(reader);
        if (program_.actor(reader).phase() == Actor::FORWARD && place < follows.size() && placeOf(writer) + 1 == place)
          follows[place] = true;
      }
    }
    profile_.isChain = std::count(follows.begin(), follows.end(), false) <= 1; // the first
  }

  // From the first layer to the second.
  void boundary() {
    std::vector<std::string> layers;
    for (const Piece &piece : profile_.pieces) {
      if (!layerOf(piece.name).empty())
        layers.push_back(piece.name);
    }
    for (int32_t b = 0; layers.size() > 1 && b < program_.stage->buffers_size(); ++b) {
      const Actor *writer = writerOf(b);
      if (writer == nullptr || pieceOf(*writer) != layers[0])
        continue;
      const auto &readers = program_.readers[b];
      const bool passes = std::any_of(readers.begin(), readers.end(), [&](int32_t reader) {
        return program_.actor(reader).phase() == Actor::FORWARD && pieceOf(program_.actor(reader)) == layers[1];
      });
      profile_.boundaryBytes += passes ? double(overlap_ * program_.slot_bytes[b]) : 0;
    }
  }

  const plan::Program program_;
  const sim::Report &report_;
  const int64_t overlap_; // micro-batches
  Profile profile_;
  std::map<std::string, size_t> places_; // of pieces, by name
  std::map<int32_t, size_t> placed_;     // of actors
};

constexpr double Piece::*kNumbers[] = {&Piece::forward_s,        &Piece::backward_s,     &Piece::weight_s,
                                       &Piece::lastForward_s,    &Piece::lastBackward_s, &Piece::forwardCopies_s,
                                       &Piece::backwardCopies_s, &Piece::stateBytes,     &Piece::parameterBytes,
                                       &Piece::lastingBytes,     &Piece::keptBytes,      &Piece::weightBytes,
                                       &Piece::lowStateBytes,    &Piece::lowKeptBytes};

Piece scaled(Piece piece, double factor) {
  for (double Piece::*number : kNumbers)
    piece.*number *= factor;
  return piece;
}

void add(const Piece &part, Piece &sum) {
  for (double Piece::*number : kNumbers)
    sum.*number += part.*number;
}

// No less time than its copies take.
void waitForCopies(Piece &piece) {
  for (double Piece::*number : {&Piece::forward_s, &Piece::lastForward_s})
    piece.*number = std::max(piece.*number, piece.forwardCopies_s);
  for (double Piece::*number : {&Piece::backward_s, &Piece::lastBackward_s})
    piece.*number = std::max(piece.*number, piece.backwardCopies_s);
}

double between(double from, double to, double part) { return from + part * (to - from); }

double parametersOf(const Profile &profile) {
  double bytes = 0;
  for (const Piece &piece : profile.pieces)
    bytes += piece.parameterBytes;
  return bytes;
}

} // namespace

absl::StatusOr<Profile> profileOf(const plan::Plan &plan, const sim::Report &report) {
  return Reader(plan, report).read();
}

Profile withRepeats(const Profile &profile, const std::map<std::string, int64_t> &repeats) {
  Profile all = profile;
  for (const auto &[scope, count] : repeats) {
    std::vector<size_t> placed;
    for (size_t i = 0; i < all.pieces.size(); ++i) {
      if (all.pieces[i].name.rfind(scope + ".", 0) == 0)
        placed.push_back(i);
    }
    const int64_t missing = count - int64_t(placed.size());
    if (placed.empty() || missing <= 0)
      continue;
    Piece mean;
    const size_t first = placed.size() > 2 ? 1 : 0, end = placed.size() > 2 ? placed.size() - 1 : placed.size();
    for (size_t i = first; i < end; ++i)
      add(scaled(all.pieces[placed[i]], 1 / double(end - first)), mean);
    waitForCopies(mean);
    const std::vector<Piece> more(size_t(missing), mean);
    const size_t last = placed.back() + more.size();
    all.pieces.insert(all.pieces.begin() + long(placed.back()), more.begin(), more.end());
    // In the order of the model.
    for (size_t i = placed.back(); i <= last; ++i)
      all.pieces[i].name = absl::StrCat(scope, ".", placed.size() - 1 + i - placed.back());
  }
  const double before = parametersOf(profile);
  all.once_s *= before > 0 ? parametersOf(all) / before : 1;
  return all;
}

Profile partlyBelow(const Profile &here, const Profile &below, double part) {
  Profile all = here;
  all.transientBytes = between(here.transientBytes, below.transientBytes, part);
  for (size_t i = 0; i < all.pieces.size() && i < below.pieces.size(); ++i) {
    for (double Piece::*number :
         {&Piece::forwardCopies_s, &Piece::backwardCopies_s, &Piece::keptBytes, &Piece::lowKeptBytes})
      all.pieces[i].*number = between(here.pieces[i].*number, below.pieces[i].*number, part);
    waitForCopies(all.pieces[i]);
  }
  return all;
}

} // namespace weft::compiler
