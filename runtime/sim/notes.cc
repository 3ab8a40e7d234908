#include "runtime/sim/notes.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/plan/program.h"
#include "runtime/plan/tiles.h"
#include "runtime/semantics/execution.h"
#include "runtime/sim/costs.h"
#include "runtime/sim/timeline.h"

namespace weft::sim {
namespace {

const char* PhaseOf(const plan::Actor& actor) {
  constexpr const char* kNames[] = {"other", "forward", "backward", "weight", "update"};
  return actor.phase() <= plan::Actor::UPDATE ? kNames[actor.phase()] : "other";
}

// Of `count` kernels of an actor that run one after another, from `first` on.
trace::Note NoteOf(const plan::Actor& actor, int first, int count) {
  double flops = 0, bytes = 0;
  for (int k = first; k < first + count; ++k) {
    const plan::KernelCost& cost = actor.kernels(k).cost();
    flops += cost.contraction_flops() + cost.flops();
    bytes += cost.bytes();
  }
  trace::Note note;
  note.category = PhaseOf(actor);
  note.arguments.emplace_back("flops", absl::StrFormat("%.0f", flops));
  note.arguments.emplace_back("bytes", absl::StrFormat("%.0f", bytes));
  if (count == 1 && !actor.kernels(first).location().empty())
    note.arguments.emplace_back("location", trace::Quoted(actor.kernels(first).location()));
  return note;
}

// The notes of one plan. An arrow is a piece of a transfer; those of predicted ranks have numbers of their own.
class Annotator {
 public:
  explicit Annotator(const plan::Plan& plan) {
    const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
    const Costs costs = CostsOf(programs, plan::Machine());
    for (const plan::Program& program : programs) AddStage(program, costs[program.index]);
    for (const plan::Transfer& transfer : plan.transfers()) AddArrows(plan, transfer);
    AddMemory(programs);
  }

  // By category, while an act computes; nothing of other acts, which come as they may.
  std::vector<std::pair<std::string, int64_t>> MemoryOf(int process, const std::string& name,
                                                        int32_t micro_batch) const {
    const auto place = places_.find(process >= kPredictedProcess ? process - kPredictedProcess : process);
    if (place == places_.end()) return {};
    const auto& moments = stages_[place->second.stage]->memory;
    const auto found = moments.find({name, micro_batch});
    if (found == moments.end()) return {};
    std::vector<std::pair<std::string, int64_t>> bytes;
    for (int k = 0; k < plan::kCategories; ++k) {
      bytes.emplace_back(plan::NameOf(static_cast<plan::Category>(k)), found->second[k]);
    }
    return bytes;
  }

  int64_t arrows() const { return 2 * static_cast<int64_t>(ends_.size()); }

  trace::Note Of(int process, const std::string& name) const {
    const bool predicted = process >= kPredictedProcess;
    const int32_t rank = predicted ? process - kPredictedProcess : process;
    const auto place = places_.find(rank);
    if (place == places_.end()) return {};
    const Stage& stage = *stages_[place->second.stage];
    const auto known = stage.notes.find(name);
    if (known == stage.notes.end()) return {};
    trace::Note note = known->second.note;
    if (!known->second.axes.empty()) {
      plan::Placement group;
      for (int64_t member : plan::GroupOf(*stage.placement, known->second.axes, place->second.index))
        group.add_ranks(stage.placement->ranks(static_cast<int>(member)));
      note.arguments.emplace_back("group", trace::Quoted(plan::RanksText(group)));
    }
    if (known->second.transfer < 0) return note;
    for (auto it = of_transfer_.lower_bound({known->second.transfer, 0});
         it != of_transfer_.end() && it->first.first == known->second.transfer; ++it) {
      const auto& [from, to] = ends_[it->second];
      if (predicted && (!IsFirst(from) || !IsFirst(to))) continue;  // no others are drawn
      const int64_t arrow = it->second + (predicted ? static_cast<int64_t>(ends_.size()) : 0);
      if (known->second.sends && from == rank) note.sends.push_back(arrow);
      if (!known->second.sends && to == rank) note.receives.push_back(arrow);
    }
    return note;
  }

 private:
  struct Known {
    trace::Note note;
    std::vector<int32_t> axes;  // of a collective
    int transfer = -1;
    bool sends = false;
  };
  struct Stage {
    const plan::Placement* placement;
    std::map<std::string, Known> notes;
    // What is live at the moment of most bytes of an act that computes, by its actor's name and micro-batch.
    std::map<std::pair<std::string, int32_t>, plan::BytesByCategory> memory;
  };
  struct Place {
    size_t stage;
    int64_t index;
  };

  bool IsFirst(int32_t rank) const { return places_.at(rank).index == 0; }

  void AddStage(const plan::Program& program, const std::vector<ActCost>& costs) {
    auto stage = std::make_unique<Stage>();
    stage->placement = program.placement;
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
      const plan::Actor& actor = program.actor(a);
      Known& known = stage->notes[actor.name()];
      if (actor.kernels_size() > 0) {
        known.note = NoteOf(actor, 0, actor.kernels_size());
        for (int k = 0; k < actor.kernels_size(); ++k) {
          Known& kernel = stage->notes[absl::StrCat(actor.name(), "/", k, " ", actor.kernels(k).name())];
          kernel.note = NoteOf(actor, k, 1);
        }
        continue;
      }
      known.note.category = PhaseOf(actor);
      known.note.arguments.emplace_back("bytes", absl::StrFormat("%.0f", costs[a].sent_bytes));
      if (actor.collectives_size() > 0) {
        known.note.category = absl::StrCat("collective,", known.note.category);
        known.axes = {actor.collectives(0).axes().begin(), actor.collectives(0).axes().end()};
        known.note.arguments.emplace_back("what", trace::Quoted(plan::BundleText(actor)));
        known.note.arguments.emplace_back("over",
                                          trace::Quoted(plan::AxesText(*program.placement, actor.collectives(0))));
        if (actor.collectives_size() == 1 && !actor.collectives(0).location().empty())
          known.note.arguments.emplace_back("location", trace::Quoted(actor.collectives(0).location()));
      } else if (actor.end_case() != plan::Actor::END_NOT_SET) {
        known.sends = actor.end_case() == plan::Actor::kSend;
        known.transfer = known.sends ? actor.send() : actor.receive();
        known.note.category = absl::StrCat(known.sends ? "send," : "receive,", known.note.category);
      }
    }
    for (int i = 0; i < program.placement->ranks_size(); ++i)
      places_[program.placement->ranks(i)] = {stages_.size(), i};
    stages_.push_back(std::move(stage));
  }

  void AddArrows(const plan::Plan& plan, const plan::Transfer& transfer) {
    const plan::Placement& from = plan.placements(plan.stages(transfer.source_stage()).placement());
    const plan::Placement& to = plan.placements(plan.stages(transfer.target_stage()).placement());
    for (const plan::Piece& piece : plan::PiecesOf(plan, transfer)) {
      const auto arrow = static_cast<int64_t>(ends_.size());
      of_transfer_[{transfers_, arrow}] = arrow;
      ends_.emplace_back(from.ranks(static_cast<int>(piece.source)), to.ranks(static_cast<int>(piece.target)));
    }
    ++transfers_;
  }

  // Of one execution that the plan permits. A plan that is blocked, which no verified one is, has none.
  void AddMemory(const std::vector<plan::Program>& programs) {
    std::vector<std::vector<plan::StageAct>> acts(programs.size());
    const absl::Status status = plan::Execute(programs, [&](const plan::Act& act) {
      acts[act.stage].push_back({act.actor, static_cast<int32_t>(act.micro_batch)});
      return absl::OkStatus();
    });
    if (!status.ok()) return;
    for (size_t s = 0; s < programs.size(); ++s) {
      const plan::Course course = plan::CourseOf(programs[s], acts[s]);
      for (size_t a = 0; a < acts[s].size(); ++a) {
        const plan::Actor& actor = programs[s].actor(acts[s][a].actor);
        if (actor.kernels_size() == 0) continue;
        stages_[s]->memory[{actor.name(), acts[s][a].micro_batch}] = course.most[a];
      }
    }
  }

  std::vector<std::unique_ptr<Stage>> stages_;
  std::map<int32_t, Place> places_;                         // by rank
  std::vector<std::pair<int32_t, int32_t>> ends_;           // of an arrow, ranks
  std::map<std::pair<int, int64_t>, int64_t> of_transfer_;  // arrows, in their order
  int transfers_ = 0;
};

}  // namespace

trace::Notes NotesOf(const plan::Plan& plan) {
  const auto annotator = std::make_shared<const Annotator>(plan);
  return {.of = [annotator](int process, const std::string& name) { return annotator->Of(process, name); },
          .memory = [annotator](int process, const std::string& name,
                                int32_t micro_batch) { return annotator->MemoryOf(process, name, micro_batch); },
          .arrows = annotator->arrows(),
          .micro_batches = plan.header().micro_batches()};
}

}  // namespace weft::sim
