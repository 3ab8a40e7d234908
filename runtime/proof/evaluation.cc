#include "runtime/proof/evaluation.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "runtime/plan/names.h"
#include "runtime/plan/program.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

std::string StageName(int s) { return absl::StrCat("stage ", s); }

// The buffers of a stage that live from step to step, by name.
std::map<std::string, int32_t> StateOf(const Program& program) {
  std::map<std::string, int32_t> state;
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    if (program.persistent[b] && program.root[b] == b) state[program.buffer(b).name()] = b;
  }
  return state;
}

absl::Status CheckParameter(const Placement& placement, const Buffer& evaluated, const Buffer& trained) {
  const auto expected = [&](const char* what, auto expected, auto got) {
    return InvalidPlan("parameter `", evaluated.name(), "`: ", what, ": expected that of the training, ", expected,
                       ", got ", got);
  };
  if (TypeText(evaluated) != TypeText(trained)) return expected("type", TypeText(trained), TypeText(evaluated));
  if (!std::equal(evaluated.unpadded_shape().begin(), evaluated.unpadded_shape().end(),
                  trained.unpadded_shape().begin(), trained.unpadded_shape().end())) {
    return expected("padding", trained.unpadded_shape_size(), evaluated.unpadded_shape_size());
  }
  if (SbpText(placement, evaluated) != SbpText(placement, trained)) {
    return expected("layout", SbpText(placement, trained), SbpText(placement, evaluated));
  }
  if (evaluated.tier() != trained.tier()) return expected("tier", trained.tier(), evaluated.tier());
  if (evaluated.offset() != trained.offset()) return expected("offset", trained.offset(), evaluated.offset());
  return absl::OkStatus();
}

// What is not a parameter lies apart from all state of the training.
absl::Status CheckApart(const Program& evaluation, const Program& training) {
  for (int32_t b = 0; b < evaluation.stage->buffers_size(); ++b) {
    if (evaluation.persistent[evaluation.root[b]]) continue;
    for (const auto& [name, state] : StateOf(training)) {
      const ByteRange kept = training.AllSlotsOf(state);
      for (int64_t slot = 0; slot < evaluation.slots[b]; ++slot) {
        if (!evaluation.RangeOf(b, slot).Overlaps(kept)) continue;
        return InvalidPlan("buffer `", evaluation.buffer(b).name(), "`: expected bytes apart from the training's `",
                           name, "`, got some of its bytes");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWritesNone(const Program& evaluation) {
  for (int32_t a = 0; a < evaluation.stage->actors_size(); ++a) {
    for (size_t w = 0; w < evaluation.work[a].size(); ++w) {
      for (int32_t b : evaluation.work[a][w].writes) {
        if (!evaluation.persistent[evaluation.root[b]]) continue;
        return InvalidPlan(evaluation.Where(a, static_cast<int>(w)), ": expected to write no parameter, got `",
                           evaluation.buffer(b).name(), "`");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStage(const Program& evaluation, const Program& training) {
  if (evaluation.placement->SerializeAsString() != training.placement->SerializeAsString()) {
    return InvalidPlan("placement: expected that of the training, got another one");
  }
  const std::map<std::string, int32_t> trained = StateOf(training);
  for (const auto& [name, b] : StateOf(evaluation)) {
    const auto found = trained.find(name);
    if (found == trained.end()) {
      return InvalidPlan("parameter `", name, "`: expected one that the training has on this stage");
    }
    const absl::Status same = CheckParameter(*training.placement, evaluation.buffer(b), training.buffer(found->second));
    if (!same.ok()) return same;
  }
  if (absl::Status status = CheckApart(evaluation, training); !status.ok()) return status;
  return CheckWritesNone(evaluation);
}

}  // namespace

absl::Status CheckEvaluation(const Plan& plan) {
  const Plan& evaluation = plan.evaluation();
  if (!plan.header().training()) return InvalidPlan("expected none of a function");
  if (evaluation.header().training() || evaluation.has_evaluation()) {
    return InvalidPlan("expected a function, got a graph that trains");
  }
  if (evaluation.header().target() != plan.header().target()) {
    return InvalidPlan("target: expected ", plan.header().target(), ", got ", evaluation.header().target());
  }
  if (evaluation.stages_size() != plan.stages_size()) {
    return InvalidPlan("stages: expected ", plan.stages_size(), ", as the training has, got ",
                       evaluation.stages_size());
  }
  const std::vector<Program> evaluated = ProgramsOf(evaluation), trained = ProgramsOf(plan);
  for (int s = 0; s < plan.stages_size(); ++s) {
    if (absl::Status status = Under(StageName(s), CheckStage(evaluated[s], trained[s])); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
