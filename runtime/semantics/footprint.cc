#include "runtime/semantics/footprint.h"

#include <algorithm>
#include <numeric>

#include "runtime/plan/names.h"
#include "runtime/plan/validate_parts.h"
#include "runtime/semantics/interval_map.h"

namespace weft::plan {
namespace {

// Phases beyond this are made anew for each act.
constexpr int64_t kMaxPeriod = 64;

// Executes the works of one act in order.
class Maker {
 public:
  Maker(const Program& program, const std::vector<bool>& scratch, int32_t actor, int64_t micro_batch)
      : program_(program), scratch_(scratch), actor_(actor), micro_batch_(micro_batch) {}

  absl::StatusOr<std::unique_ptr<Footprint>> Make() {
    const std::vector<Work>& works = program_.work[actor_];
    for (size_t w = 0; w < works.size(); ++w) {
      absl::Status status = CheckOperands(works[w]);
      for (size_t i = 0; i < works[w].reads.size() && status.ok(); ++i) {
        if (program_.Reads(works[w], works[w].reads[i], micro_batch_)) status = Read(works[w].reads[i], w);
      }
      if (!status.ok()) return Under(program_.Where(actor_, w), status);
      for (int32_t b : works[w].writes) {
        const ByteRange bytes = RangeOf(b);
        map_.Assign(bytes.begin, bytes.end, {b, static_cast<int32_t>(w)});
      }
    }
    for (const auto& [begin, piece] : map_.pieces()) Leave({begin, piece.end}, piece.value);
    return std::move(result_);
  }

 private:
  struct Content {
    int32_t buffer = 0;
    int32_t work = 0;
  };

  ByteRange RangeOf(int32_t b) const { return program_.ExactRangeOf(b, program_.SlotOf(actor_, b, micro_batch_)); }
  const std::string& Name(int32_t b) const { return program_.buffer(b).name(); }

  // One kernel reads and writes at the same time: what it writes may share
  // bytes with nothing but the operand that it updates in place, element by
  // element.
  absl::Status CheckOperands(const Work& work) const {
    for (size_t i = 0; i < work.writes.size(); ++i) {
      const int32_t out = work.writes[i];
      const ByteRange bytes = RangeOf(out);
      for (int32_t in : work.reads) {
        const ByteRange read = RangeOf(in);
        if (!bytes.Overlaps(read)) continue;
        if (program_.root[in] == program_.root[out]) {
          if (read.begin == bytes.begin && read.end == bytes.end) continue;
          return InvalidPlan("output `", Name(out), "`: expected all bytes of its input `", Name(in),
                             "` or none of them, got ", TextOf(bytes), " over ", TextOf(read));
        }
        return InvalidPlan("output `", Name(out), "`: expected bytes apart from its input `", Name(in), "`, got ",
                           TextOf(bytes), " over ", TextOf(RangeOf(in)));
      }
      for (size_t j = 0; j < i; ++j) {
        if (!bytes.Overlaps(RangeOf(work.writes[j]))) continue;
        return InvalidPlan("output `", Name(out), "`: expected bytes apart from its output `", Name(work.writes[j]),
                           "`, got ", TextOf(bytes), " over ", TextOf(RangeOf(work.writes[j])));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Read(int32_t b, int32_t w) {
    const ByteRange bytes = RangeOf(b);
    absl::Status status;
    map_.ForEach(bytes.begin, bytes.end, [&](int64_t begin, int64_t end, const Content* content) {
      if (content == nullptr) {
        result_->reads.push_back({{begin, end}, b, w});
      } else if (program_.root[content->buffer] != program_.root[b]) {
        status = Lost(b, *content, {begin, end});
      }
      return status.ok();
    });
    return status;
  }

  absl::Status Lost(int32_t b, const Content& by, const ByteRange& bytes) const {
    return InvalidPlan("buffer `", Name(b), "` is overwritten while live: ", program_.Where(actor_, by.work),
                       " wrote `", Name(by.buffer), "` over ", TextOf(bytes), " before this read");
  }

  void Leave(const ByteRange& bytes, const Content& content) {
    const int32_t root = program_.root[content.buffer];
    const int32_t owner = scratch_[root] ? Footprint::kScratch : root;
    std::vector<Footprint::Write>& writes = result_->writes;
    if (!writes.empty() && writes.back().bytes.end == bytes.begin && writes.back().root == owner) {
      writes.back().bytes.end = bytes.end;
    } else {
      writes.push_back({bytes, owner, content.buffer, content.work});
    }
  }

  const Program& program_;
  const std::vector<bool>& scratch_;
  const int32_t actor_;
  const int64_t micro_batch_;
  IntervalMap<Content> map_;
  std::unique_ptr<Footprint> result_ = std::make_unique<Footprint>();
};

int64_t PeriodOf(const Program& program, int32_t actor) {
  if (!program.micro(actor)) return 1;
  int64_t period = 1;
  const auto add = [&](int32_t b) {
    if (program.slots[b] > 1) period = std::min(std::lcm(period, int64_t{program.slots[b]}), program.micro_batches);
  };
  for (const Work& work : program.work[actor]) {
    for (int32_t b : work.reads) add(b);
    for (int32_t b : work.writes) add(b);
  }
  return period;
}

}  // namespace

std::vector<bool> ScratchOf(const Program& program) {
  enum State : uint8_t { kUntouched, kWritten, kOther };
  std::vector<State> states(program.root.size(), kUntouched);
  std::vector<int32_t> actors(program.root.size(), -1);
  const auto touch = [&](int32_t a, int32_t b, bool write) {
    const int32_t root = program.root[b];
    const bool whole = program.RangeOf(b, 0).begin == program.RangeOf(root, 0).begin &&
                       program.slot_bytes[b] == program.slot_bytes[root];
    if (states[root] == kUntouched && write && whole) {
      states[root] = kWritten;
      actors[root] = a;
    } else if (states[root] != kWritten || actors[root] != a) {
      states[root] = kOther;
    }
  };
  for (size_t a = 0; a < program.work.size(); ++a) {
    for (const Work& work : program.work[a]) {
      for (int32_t b : work.reads) touch(a, b, false);
      for (int32_t b : work.writes) touch(a, b, true);
    }
  }
  for (size_t b = 0; b < program.root.size(); ++b) {
    if (program.persistent[b] || program.metric[b]) states[program.root[b]] = kOther;
  }
  std::vector<bool> scratch;
  for (State state : states) scratch.push_back(state == kWritten);
  return scratch;
}

Footprints::Footprints(const Program& program) : program_(program), scratch_(ScratchOf(program)) {
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    period_.push_back(PeriodOf(program, a));
    const auto accumulates = [](const Work& work) { return work.accumulator >= 0; };
    starts_apart_.push_back(std::any_of(program.work[a].begin(), program.work[a].end(), accumulates));
  }
  kept_.resize(period_.size());
}

void Footprints::Forget() {
  for (std::vector<std::unique_ptr<Footprint>>& kept : kept_) kept.clear();
}

int64_t Footprints::VariantsOf(int32_t actor) const { return period_[actor] + starts_apart_[actor]; }

int64_t Footprints::VariantOf(int32_t actor, int64_t micro_batch) const {
  if (!starts_apart_[actor]) return micro_batch % period_[actor];
  return micro_batch == 0 ? 0 : 1 + micro_batch % period_[actor];
}

int64_t Footprints::MicroBatchOf(int32_t actor, int64_t variant) const {
  if (!starts_apart_[actor] || variant == 0) return variant;
  return variant == 1 ? period_[actor] : variant - 1;
}

absl::StatusOr<const Footprint*> Footprints::Of(int32_t actor, int64_t micro_batch) {
  const bool keep = period_[actor] <= kMaxPeriod;
  const int64_t variant = VariantOf(actor, micro_batch);
  if (keep && kept_[actor].empty()) kept_[actor].resize(VariantsOf(actor));
  std::unique_ptr<Footprint>& place = keep ? kept_[actor][variant] : last_;
  if (keep && place != nullptr) return place.get();
  absl::StatusOr<std::unique_ptr<Footprint>> made = Maker(program_, scratch_, actor, micro_batch).Make();
  if (!made.ok()) return made.status();
  place = *std::move(made);
  return place.get();
}

}  // namespace weft::plan
