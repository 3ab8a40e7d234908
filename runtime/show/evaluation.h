// The evaluation of a plan, for people.
#ifndef WEFT_RUNTIME_SHOW_EVALUATION_H_
#define WEFT_RUNTIME_SHOW_EVALUATION_H_

#include <cstdint>
#include <string>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// What it needs of a rank's arena, parameters included: of the stage that needs most.
int64_t EvaluationBytes(const Plan& plan);

// "graph evaluate, 64 samples a step of 12.3 ms, in 30.1 MiB of the same memory a rank", of a plan that has one.
std::string EvaluationText(const Plan& plan);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_EVALUATION_H_
