// What a loss does row by row.
#ifndef WEFT_COMPILER_PASSES_BOX_LOSS_ROWS_H_
#define WEFT_COMPILER_PASSES_BOX_LOSS_ROWS_H_

#include "compiler/analysis/section.h"

namespace weft::compiler {

/// An attribute of a graph that says which losses are done in parts, a dictionary each, for the plan.
constexpr llvm::StringLiteral kLossChunksName("weft.loss_chunks");

/// The ops that make logits, and all that read them or what is made of them as large: from a product to a loss's
/// statistics and, where it has a gradient, to the products that read the logits' gradient. Each can be done for some
/// rows alone, by its sharding rule.
struct LossRows {
  llvm::SmallVector<mlir::Operation *> ops; // in program order; the first is the product
  /// Of each tensor with rows that these read or write: how many of its first dimensions are rows.
  llvm::DenseMap<mlir::Value, int64_t> dims;
  mlir::Value logits;

  bool has(mlir::Operation *op) const { return llvm::is_contained(ops, op); }
  /// True of a result that is a sum over the rows.
  bool isSum(mlir::Value value) const { return has(value.getDefiningOp()) && !dims.contains(value); }
};

/// Those that have the logits of a `weft.sum_exp`. Nothing if some of it cannot be cut into rows: they are mixed, have
/// padding, are drawn at random, or a sum over them is read by what makes it.
std::optional<LossRows> lossRowsOf(mlir::Value logits, ir::GraphOp graph, const Sections &sections);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_BOX_LOSS_ROWS_H_
