// The proof that the evaluation of a plan may run between the steps of its training, in the same arenas.
#ifndef WEFT_RUNTIME_PROOF_EVALUATION_H_
#define WEFT_RUNTIME_PROOF_EVALUATION_H_

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// Of a plan that has an evaluation, both of which are proved by themselves: the evaluation is a function for the same
// ranks; each parameter that it reads is one of the training's, in the same layout and at the same offset of the same
// stage; it writes none, and what else it has shares no byte with any state of the training. kInvalidArgument says what
// is not so. Any thread.
absl::Status CheckEvaluation(const Plan& plan);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PROOF_EVALUATION_H_
