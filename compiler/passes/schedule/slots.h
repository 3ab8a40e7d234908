// How many micro-batches of a value are under way at once.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_SLOTS_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_SLOTS_H_

#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// Gives every buffer of a program with actors its slots. What one unit writes and another reads is kept for as
/// many micro-batches as the order of the units has under way between the two: 1F1B keeps p - i of them on stage
/// i of p. What comes from the host, or from or goes to another stage, has one more, so that the next one moves
/// while this one is used; what is gathered and reduced has not, since it takes turns with that of other layers. Never
/// more than there are micro-batches.
void setSlots(task::ProgramOp program);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_SLOTS_H_
