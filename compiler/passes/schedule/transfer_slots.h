// Slots that let stages run as far ahead of each other as the schedule has them.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_TRANSFER_SLOTS_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_TRANSFER_SLOTS_H_

#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// Gives more slots to buffers at the ends of transfers until stages that run their units in order do not block: a
/// sender may write as many micro-batches before the receiver reads the first as both ends of the transfer have slots
/// together. Example: a file's order has six forwards on stage 0 before a backward that stage 1 does ahead of its
/// second forward; two slots on either end are too few. The orders that weft makes block with no buffer that `setSlots`
/// has seen to. Changes nothing where the order itself blocks.
void addTransferSlots(mlir::ModuleOp module);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_TRANSFER_SLOTS_H_
