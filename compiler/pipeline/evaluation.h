// The function that is evaluated between the steps of a training, compiled for the training's ranks and memory.
//
//   the job ─ jobOf ─▶ a job of the function ─ elaborate ─▶ layers held on the training's stages ─ pipeline ... pad ─▶
//   parameters held as the training's plan has them ─ zero ... memory ─▶ a plan ─ moved above the training's state ─▶
//   plan.evaluation
#ifndef WEFT_COMPILER_PIPELINE_EVALUATION_H_
#define WEFT_COMPILER_PIPELINE_EVALUATION_H_

#include "absl/status/status.h"
#include "compiler/pipeline/compile.h"

namespace weft::compiler {

/// Adds to a plan, of the job of `options`, what its `evaluation` asks for; nothing if it asks for nothing. Errors as
/// compile().
absl::Status addEvaluation(const CompileOptions &options, plan::Plan &plan);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_EVALUATION_H_
