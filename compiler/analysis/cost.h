// What the ops of a graph cost, before any rate: FLOPs and bytes.
#ifndef WEFT_COMPILER_ANALYSIS_COST_H_
#define WEFT_COMPILER_ANALYSIS_COST_H_

#include "compiler/analysis/machine.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {

/// FLOPs of the contractions of a step on whole tensors without padding, micro-batches
/// included: the useful work, whatever the layout and whatever is computed
/// twice (phase "recompute"). 2 a multiply-add.
double modelFlops(ir::GraphOp graph);

/// The local type of a value on a rank of `placement`; the whole type if it has no SBP.
mlir::RankedTensorType tileOf(mlir::Value value, ir::PlacementAttr placement);

/// "bf16", "i32": an element type as MLIR writes it. Of those that tensors have it sets up no printer, which takes
/// longer than all that is asked with the name.
std::string elementNameOf(mlir::Type element);

/// "bf16": the narrowest floating-point type of tensors; "" if none has one.
std::string narrowestOf(llvm::ArrayRef<mlir::RankedTensorType> tensors);

/// What one run of an op does on tiles of these types.
plan::KernelWork workOf(ir::WeftOpInterface op, llvm::ArrayRef<mlir::RankedTensorType> operands,
                        llvm::ArrayRef<mlir::RankedTensorType> results);

/// What one run of an op does on one rank of `placement`.
plan::KernelWork localWork(ir::WeftOpInterface op, ir::PlacementAttr placement);

/// What a local box does there: it reads and writes as much as its result has.
plan::KernelWork localWork(ir::BoxOp box, ir::PlacementAttr placement);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_COST_H_
