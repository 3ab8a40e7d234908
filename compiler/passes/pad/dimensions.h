// Which dimensions of a graph's values are one, by the sharding rules of its ops.
#ifndef WEFT_COMPILER_PASSES_PAD_DIMENSIONS_H_
#define WEFT_COMPILER_PASSES_PAD_DIMENSIONS_H_

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {

/// The dimension of which `factor` is the outermost, -1 if the tensor has it nowhere, -2 if it is inside a dimension.
int64_t dimensionOf(const ir::ShardingRule::Tensor &tensor, int factor);

/// An op's rule, and which of its factors may grow.
struct OpRule {
  ir::ShardingRule rule;
  llvm::SmallBitVector grows; // a factor

  /// Whether some result lacks the factor, so that the op adds up over it.
  bool reduces(int factor) const;
  /// The sets of operands that all have the factor and in which the op is jointly linear: with zeros there, results do
  /// not notice how large it is.
  llvm::SmallVector<llvm::ArrayRef<int>> linearIn(int factor) const;
  /// The number of `rule.neutral` for an operand that has the factor, if any.
  std::optional<ir::ShardingRule::Neutral> neutralFor(int factor) const;
};

/// Dimensions that are one grow together. What is one is a group: a number of units, of which each of its dimensions
/// has some. Heads and heads times their size are a group with a head as unit.
class Dimensions {
public:
  explicit Dimensions(ir::GraphOp graph);

  /// Null for ops that are not of the vocabulary.
  const OpRule *ruleOf(mlir::Operation *op) const;
  /// The group of a dimension of a value that the graph had when this was made.
  int groupOf(mlir::Value value, int64_t dim) const;
  /// The units of a group.
  int64_t unitsOf(int group) const { return units_[group]; }

private:
  void join(mlir::Operation *op, const OpRule &rule);
  void unite(int a, int b, int64_t units);
  int rootOf(int node) const;

  llvm::DenseMap<mlir::Operation *, OpRule> rules_;
  llvm::DenseMap<mlir::Value, int> first_; // the node of dimension 0
  llvm::SmallVector<int> parent_;
  llvm::SmallVector<int64_t> units_; // of roots
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_PAD_DIMENSIONS_H_
