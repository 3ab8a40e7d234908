// Of one micro-batch: what is done to a reduced gradient moves from the backward to the step section.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_POSTPONE_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_POSTPONE_H_

#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// Moves reductions of gradients from the micro section to the step section of a program of one micro-batch, with the
/// kernels that round or cut the result, if only the step section reads what these make. The gradient of a tied table
/// is such: its parts are added in float32, reduced over ranks, and rounded to bfloat16. In the step section the
/// reduction is one of the bundles that run beside the backward (buckets.h). In the micro section it would be the last
/// collective of the backward, and no bundle over the same axis could come before it. With several micro-batches
/// nothing changes, since each micro-batch adds its own gradient to the sum.
void postponeReductions(task::ProgramOp program);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_POSTPONE_H_
