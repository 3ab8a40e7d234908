// What the values of a function of tokens have of the rows of its sequences, and ops made for other rows than all.
#ifndef WEFT_COMPILER_PASSES_ELABORATE_ROWS_H_
#define WEFT_COMPILER_PASSES_ELABORATE_ROWS_H_

#include "llvm/ADT/DenseMap.h"
#include "ops/dialect/weft.h"
#include "ops/einsum/ops.h"
#include "ops/gather/ops.h"
#include "ops/sort/ops.h"

namespace weft::compiler {

/// What a value that depends on the tokens has of the rows. A *place* is an index along the dimension that they are in.
struct Rows {
  enum Kind {
    Values, ///< what each place makes of its row and of nothing else, in the order of the sequence
    Sorted, ///< the same in the order of `sort`: element i is that of the place sort.ids[i]
    Places, ///< which places these are, divided by `unit` and rounded down; without a sort, in the order of the
            ///< sequence
    Homes,  ///< of each place, where `sort` has put it: sort.ids[home] is the place
    Counts, ///< how many places have each number of `keys`; it has no rows
  };
  int64_t dim = 0; ///< where the rows are
  Kind kind = Values;
  int64_t outer = 1, inner = 1; ///< what they are joined with there: the dimension is [outer, rows, inner]
  bool ofSamples = true;        ///< whether dimension 0 is that of the samples
  ir::SortOp sort;
  int64_t unit = 1;
  Value keys;
};

/// Makes the ops of a function of `length` rows ops of `rows` rows, those at `positions`. What an op does along the
/// sequence its sharding rule says: where that has the rows as a factor, which results have too, row i of the results
/// comes of row i of the operands. Ops that sort rows by a key, compute with each row what its key says, and put the
/// rows back where they were, do the same together; they are followed one by one.
class RowRewriter {
public:
  /// Positions are [batch, rows].
  RowRewriter(mlir::OpBuilder &builder, int64_t length, int64_t rows, Value positions)
      : b_(builder), length_(length), rows_(rows), positions_(positions) {}

  bool dependsOnTokens(Value value) const { return known_.contains(value); }
  const Rows &of(Value value) const { return known_.find(value)->second; }
  bool isOfRows(Value value) const;
  void note(Value value, Rows rows) { known_[value] = rows; }
  /// Notes it, and makes the value one of `count` rows.
  void resize(Value value, Rows rows, int64_t count);

  /// An op of which an operand depends on the tokens. An error at it says why it is none that makes each row of its
  /// row.
  LogicalResult rewrite(Operation *op);

  /// Of a tensor that is the same whatever the tokens are, with all rows along `dim` and one sample along dimension 0:
  /// [batch, ..., rows, ...], what it is at the positions. An empty value if the element type has no rows to be taken.
  Value atPositions(Operation *like, Value whole, int64_t dim);

private:
  LogicalResult refused(Operation *op, const llvm::Twine &why);
  LogicalResult byRule(ir::WeftOpInterface op);
  LogicalResult takeRows(Operation *op, unsigned index, int64_t dim, const ir::ShardingRule &rule, const Rows &own);
  ir::ShardingRule ruleOfAll(ir::WeftOpInterface op);
  Value recomputed(Operation *like, Value whole, int64_t dim);
  Value take(Operation *like, Value whole, Value positions, int64_t dim);

  // rows_sorted.cc: failure says that the op is none of these, or not shown to be one.
  LogicalResult sorted(Operation *op);
  LogicalResult sortRows(ir::SortOp op);
  LogicalResult takeSorted(ir::TakeOp op);
  LogicalResult scatterSorted(ir::ScatterAddOp op);
  LogicalResult multiplySorted(ir::GroupedMatmulOp op);
  Value places(Operation *like, ArrayRef<int64_t> shape, Rows rows);

  Value made(Operation *op, Operation *like);
  Value reshaped(Operation *like, Value value, ArrayRef<int64_t> shape);
  mlir::IntegerAttr number(int64_t n) { return b_.getI64IntegerAttr(n); }
  Value filled(Operation *fill, Rows rows);

  mlir::OpBuilder &b_;
  const int64_t length_, rows_;
  Value positions_;
  llvm::DenseMap<Value, Rows> known_;
};

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_ELABORATE_ROWS_H_
