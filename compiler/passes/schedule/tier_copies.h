// Copies between the device and a tier.
#ifndef WEFT_COMPILER_PASSES_SCHEDULE_TIER_COPIES_H_
#define WEFT_COMPILER_PASSES_SCHEDULE_TIER_COPIES_H_

#include "compiler/analysis/machine.h"
#include "compiler/dialect/task/task.h"

namespace weft::compiler {

/// Whether the latency of a tier is no more than half of a copy of a buffer; also where its rates are not known, null.
bool isLarge(task::BufferOp buffer, const plan::TierRates *tier);

/// A `fetch` or a `store` of the section, which belongs where `neighbour` does.
task::KernelOp copyTier(mlir::OpBuilder &b, llvm::StringRef name, mlir::Value from, mlir::Value to,
                        task::Section section, mlir::Operation *neighbour);

/// The same view of another buffer, where `views` has that of each buffer, and gets what is made.
mlir::Value viewOf(mlir::OpBuilder &b, mlir::Value view, llvm::DenseMap<mlir::Value, mlir::Value> &views);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_SCHEDULE_TIER_COPIES_H_
