// How many micro-batches of a value are under way at once.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_SLOTS_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_SLOTS_H_

#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// Gives every buffer of a program with actors its slots: the number of micro-batches of which the buffer holds a value
/// at once.
/// - A buffer that one unit writes and another reads has as many slots as micro-batches are under way between the two
///   in the order of the units. Example: 1F1B needs p - i slots on stage i of p.
/// - A buffer that the host or another stage writes or reads has one more, so that the next micro-batch moves while
///   this one is used. A gathered or reduced buffer has not: the buffers of other layers move meanwhile.
/// - A sum over micro-batches has one slot, and so has what is made once a step. What the step section only reads has
///   the slots that the units need; it is read as the last micro-batch left it.
/// No buffer has more slots than there are micro-batches.
void setSlots(task::ProgramOp program);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_SLOTS_H_
