// When the bytes of a buffer that lies in a tier have to be on the device.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_TIER_USES_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_TIER_USES_H_

#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// What touches the bytes of a buffer, in order, also by views.
llvm::SmallVector<mlir::Operation *> touchersOf(mlir::Value buffer);
/// Whether an op reads or writes the bytes of a root.
bool readsAny(mlir::Operation *op, mlir::Value root);
bool writesAny(mlir::Operation *op, mlir::Value root);

class HostWork;

/// Work that has a buffer on the device at one time: of a layer in one unit, or of another section.
struct TierUse {
  task::Section section;
  llvm::SmallVector<mlir::Operation *> work; // in order
};

/// The uses of a buffer that is to lie in a tier: a layer's in each unit; in the begin section one of each op, and in
/// the step section too, if nothing writes there, else one of all. Nothing for what has to stay on the device:
/// - what a transfer or a metric touches, or a part of a loss; what collectives touch outside micro-batches, but state;
/// - what a micro-batch touches outside layers;
/// - state that is written before the step section;
/// - other buffers that are not made by their first use, alone in its section, and read by the others.
/// `host`, null if there is none: what it touches there is no use.
std::optional<llvm::SmallVector<TierUse>> tierUsesOf(task::BufferOp buffer, const HostWork *host);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_TIER_USES_H_
