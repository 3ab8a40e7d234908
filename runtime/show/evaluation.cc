#include "runtime/show/evaluation.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/plan/names.h"

namespace weft::plan {

int64_t EvaluationBytes(const Plan& plan) {
  int64_t bytes = 0;
  for (const Stage& stage : plan.evaluation().stages()) bytes = std::max<int64_t>(bytes, stage.arena_bytes());
  return bytes;
}

std::string EvaluationText(const Plan& plan) {
  const Plan& evaluation = plan.evaluation();
  return absl::StrCat("graph ", evaluation.header().graph(), ", ",
                      CountText(evaluation.header().job().batch().global()), " samples a step of ",
                      SecondsText(evaluation.prediction().step_s()), ", in ", BytesText(EvaluationBytes(plan)),
                      " of the same memory a rank");
}

}  // namespace weft::plan
