#include "compiler/passes/elaborate/rows.h"

#include "ops/constant/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/layout/ops.h"
#include "ops/rope/ops.h"

namespace weft::compiler {

using namespace weft::ir;

namespace {

RankedTensorType resized(Value value, int64_t dim, int64_t extent) {
  SmallVector<int64_t> shape(shapeOf(value));
  shape[dim] = extent;
  return RankedTensorType::get(shape, tensorOf(value).getElementType());
}

// Where a tensor has the factor as a dimension of its own; -1 if nowhere, -2 if only with others.
int64_t dimOf(const ShardingRule::Tensor &tensor, int factor) {
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    if (llvm::is_contained(factors, factor)) {
      return factors.size() == 1 ? int64_t(dim) : -2;
    }
  }
  return -1;
}

// The factor of a rule that rows are in, and what they are joined with in it; -1: none has them whole.
struct Part {
  int factor = -1;
  int64_t outer = 1, inner = 1;
  bool operator!=(const Part &o) const { return factor != o.factor || outer != o.outer || inner != o.inner; }
};

// A dimension is [outer, rows, inner]: of its factors, outermost first, one has the rows, if those before it are a part
// of `outer` and those behind it one of `inner`.
Part partOf(const ShardingRule &rule, const Rows &rows, const ShardingRule::Tensor &tensor) {
  int64_t before = 1, behind = 1;
  for (int factor : tensor[rows.dim]) {
    behind *= rule.factors[factor].size;
  }
  for (int factor : tensor[rows.dim]) {
    behind /= rule.factors[factor].size;
    if (rows.outer % before == 0 && rows.inner % behind == 0) {
      return {factor, rows.outer / before, rows.inner / behind};
    }
    before *= rule.factors[factor].size;
  }
  return {};
}

// Where a result has them: the other way. `dim` is -1 if nowhere.
Rows rowsIn(const ShardingRule &rule, const Part &part, const ShardingRule::Tensor &tensor) {
  Rows rows;
  rows.dim = -1;
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    const auto *at = llvm::find(factors, part.factor);
    if (at == factors.end()) {
      continue;
    }
    rows.dim = int64_t(dim);
    rows.outer = part.outer;
    rows.inner = part.inner;
    for (const auto *factor = factors.begin(); factor != factors.end(); ++factor) {
      (factor < at ? rows.outer : rows.inner) *= factor == at ? 1 : rule.factors[*factor].size;
    }
  }
  return rows;
}

// Whether the first `count` dimensions are the same, each for itself.
bool sameLines(const ShardingRule::Tensor &a, const ShardingRule::Tensor &b, int64_t count) {
  if (int64_t(a.size()) < count || int64_t(b.size()) < count) {
    return false;
  }
  return llvm::all_of(llvm::seq<int64_t>(0, count), [&](int64_t d) { return a[d].size() <= 1 && a[d] == b[d]; });
}

} // namespace

bool RowRewriter::isOfRows(Value value) const {
  auto known = known_.find(value);
  return known != known_.end() && known->second.kind == Rows::Values && known->second.outer == 1 &&
         known->second.inner == 1;
}

void RowRewriter::resize(Value value, Rows rows, int64_t count) {
  if (rows.kind != Rows::Counts) {
    value.setType(resized(value, rows.dim, rows.outer * count * rows.inner));
    llvm::cast<WeftOpInterface>(value.getDefiningOp()).setResultShape(shapeOf(value));
  }
  note(value, rows);
}

LogicalResult RowRewriter::refused(Operation *op, const llvm::Twine &why) {
  return op->emitOpError() << "generate.chunk: expected an op that makes each row of a sequence of that row, or causal "
                              "attention, got one that "
                           << why;
}

LogicalResult RowRewriter::rewrite(Operation *op) {
  if (succeeded(sorted(op))) {
    return success();
  }
  auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
  return weftOp ? byRule(weftOp) : refused(op, "is none of either");
}

LogicalResult RowRewriter::byRule(WeftOpInterface op) {
  // The rule is that of the whole sequence: operands have their old types in it.
  const ShardingRule rule = ruleOfAll(op);
  std::optional<Rows> own; // of the first operand that has rows
  Part part;
  for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands)) {
    if (!dependsOnTokens(operand)) {
      continue;
    }
    const Rows &rows = of(operand);
    if ((rows.kind == Rows::Places || rows.kind == Rows::Homes) && !llvm::isa<ReshapeOp, TransposeOp>(op)) {
      return refused(op, "computes with the places of sorted rows");
    }
    const Part here = rows.kind == Rows::Counts ? Part() : partOf(rule, rows, tensor);
    if (here.factor < 0 || rule.factors[here.factor].whole || (own && part != here)) {
      return refused(op, "needs rows of others too");
    }
    if (own && (own->kind != rows.kind || own->sort != rows.sort)) {
      return refused(op, "meets rows that are sorted with such as are not");
    }
    if (!own) {
      own = rows;
      part = here;
    }
    own->ofSamples = own->ofSamples && rows.ofSamples && sameLines(tensor, rule.results[0], 1);
  }
  SmallVector<Rows> results;
  for (const ShardingRule::Tensor &result : rule.results) {
    Rows rows = *own;
    const Rows there = rowsIn(rule, part, result);
    rows.dim = there.dim;
    rows.outer = there.outer;
    rows.inner = there.inner;
    if (rows.dim < 0) {
      return refused(op, "makes one of all rows");
    }
    results.push_back(rows);
  }
  // What is sorted keeps its lines, and what stands along them.
  if (own->sort) {
    const int64_t lines = of(own->sort.getIds()).dim + (own->kind == Rows::Homes ? 0 : 1);
    for (auto [operand, tensor] : llvm::zip(op->getOperands(), rule.operands)) {
      for (const ShardingRule::Tensor &result : rule.results) {
        if (dependsOnTokens(operand) && !sameLines(tensor, result, lines)) {
          return refused(op, "takes rows apart that are sorted");
        }
      }
    }
  }
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (int64_t dim = dimOf(rule.operands[i], part.factor); !dependsOnTokens(op->getOperand(i)) && dim != -1) {
      Value whole = op->getOperand(i);
      if (auto fill = whole.getDefiningOp<FillOp>(); fill && dim >= 0) {
        Rows rows = *own;
        rows.kind = Rows::Values; // the same in any order
        rows.dim = dim;
        rows.outer = part.outer;
        rows.inner = part.inner;
        op->setOperand(i, filled(fill, rows));
        continue;
      }
      if (own->kind != Rows::Values || part.outer != 1 || part.inner != 1) {
        return refused(op, "meets something of the whole sequence where rows are joined with another dimension");
      }
      if (failed(takeRows(op, i, dim, rule, *own))) {
        return failure();
      }
    }
  }
  for (auto [result, rows] : llvm::zip(op->getResults(), results)) {
    resize(result, rows, rows_);
  }
  return success();
}

// Of the op as it stood, before its operands had other types.
ShardingRule RowRewriter::ruleOfAll(WeftOpInterface op) {
  SmallVector<mlir::Type> now;
  for (Value operand : op->getOperands()) {
    now.push_back(operand.getType());
    if (dependsOnTokens(operand) && of(operand).kind != Rows::Counts) {
      const Rows &rows = of(operand);
      operand.setType(resized(operand, rows.dim, rows.outer * length_ * rows.inner));
    }
  }
  ShardingRule rule = op.getShardingRule();
  for (auto [operand, type] : llvm::zip(op->getOperands(), now)) {
    operand.setType(type);
  }
  return rule;
}

// ---- what is the same whatever the tokens are ---------------------------------------------------

Value RowRewriter::made(Operation *op, Operation *like) {
  setBelongings(op, belongingsOf(like));
  return op->getResult(0);
}

Value RowRewriter::reshaped(Operation *like, Value value, ArrayRef<int64_t> shape) {
  if (auto before = value.getDefiningOp<ReshapeOp>()) {
    value = before.getInput();
  }
  return shapeOf(value) == shape ? value
                                 : made(create<ReshapeOp>(b_, like->getLoc(), value, b_.getI64ArrayAttr(shape)), like);
}

// One number everywhere, in other rows.
Value RowRewriter::filled(Operation *fill, Rows rows) {
  Value value = b_.clone(*fill)->getResult(0);
  resize(value, rows, rows_);
  return value;
}

// An operand that has a row for every position of the sequence: those at the positions, for each sample.
LogicalResult RowRewriter::takeRows(Operation *op, unsigned index, int64_t dim, const ShardingRule &rule,
                                    const Rows &own) {
  Value whole = op->getOperand(index);
  const int64_t rank = int64_t(shapeOf(op->getResult(0)).size()), missing = rank - int64_t(shapeOf(whole).size());
  bool fits = op->getNumResults() == 1 && dim >= 0 && missing >= 0 && dim + missing > 0 &&
              (missing > 0 || shapeOf(whole)[0] == 1) && own.ofSamples;
  // Element by element.
  for (const ShardingRule::Tensor &tensor : rule.operands) {
    const int64_t from = rank - int64_t(tensor.size());
    for (auto [d, factors] : llvm::enumerate(tensor)) {
      fits = fits && from >= 0 && (factors.empty() || factors == rule.results[0][from + int64_t(d)]);
    }
  }
  Value rows;
  if (fits) {
    SmallVector<int64_t> shape(missing, 1);
    llvm::append_range(shape, shapeOf(whole));
    rows = atPositions(op, reshaped(op, whole, shape), dim + missing);
  }
  if (!rows) {
    return refused(op, "meets something of the whole sequence other than element by element, [sequence, ...]");
  }
  op->setOperand(index, rows);
  return success();
}

Value RowRewriter::atPositions(Operation *like, Value whole, int64_t dim) {
  SmallVector<int64_t> result(shapeOf(whole));
  result[0] = shapeOf(positions_)[0];
  result[dim] = rows_;
  // Without the one sample, and without dimensions of extent 1 if there are no others before the rows.
  ArrayRef<int64_t> before = shapeOf(whole).slice(1, dim - 1);
  if (llvm::all_of(before, [](int64_t extent) { return extent == 1; })) {
    before = {};
  }
  SmallVector<int64_t> shape(before), taken(before);
  llvm::append_range(shape, shapeOf(whole).drop_front(dim));
  taken.append({result[0], rows_});
  llvm::append_range(taken, shapeOf(whole).drop_front(dim + 1));
  const auto at = int64_t(before.size());
  whole = reshaped(like, whole, shape);
  Value value = recomputed(like, whole, at);
  value = value ? reshaped(like, value, taken) : take(like, whole, positions_, at);
  if (!value) {
    return {};
  }
  if (at > 0) { // the samples go first
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(taken.size())));
    std::rotate(order.begin(), order.begin() + at, order.begin() + at + 1);
    value = made(create<TransposeOp>(b_, like->getLoc(), value, b_.getI64ArrayAttr(order)), like);
  }
  value = reshaped(like, value, result);
  note(value, {.dim = dim});
  return value;
}

Value RowRewriter::take(Operation *like, Value whole, Value positions, int64_t dim) {
  // The first rows of a longer table are its own.
  if (auto slice = whole.getDefiningOp<SliceOp>();
      slice && intOf(slice.getDim()) == dim && intOf(slice.getOffset()) == 0) {
    whole = slice.getInput();
  }
  if (tensorOf(whole).getElementType().isInteger(8)) {
    return {}; // truth values, of which no rows can be taken
  }
  return made(create<TakeOp>(b_, like->getLoc(), whole, positions, number(dim), mlir::IntegerAttr(), mlir::UnitAttr()),
              like);
}

// What makes the tensor, for the rows at the positions alone: those of all samples one behind the other along `dim`.
// Empty where that is not known.
Value RowRewriter::recomputed(Operation *like, Value whole, int64_t dim) {
  Operation *op = whole.getDefiningOp();
  auto weftOp = llvm::dyn_cast_or_null<WeftOpInterface>(op);
  if (!weftOp || op->getNumResults() != 1) {
    return {};
  }
  auto flat = [&] { return reshaped(like, positions_, {shapeOf(positions_)[0] * shapeOf(positions_)[1]}); };
  const int64_t extent = shapeOf(positions_)[0] * shapeOf(positions_)[1];
  SmallVector<Value> operands(op->getOperands());
  if (auto iota = llvm::dyn_cast<IotaOp>(op); iota && intOf(iota.getDim()) == dim) {
    mlir::Type element = tensorOf(whole).getElementType();
    if (!element.isInteger(32) && !element.isF32()) {
      return {};
    }
    SmallVector<int64_t> shape(shapeOf(whole).size(), 1);
    shape[dim] = extent;
    Value value = reshaped(like, flat(), shape);
    value = element.isF32() ? made(create<CastOp>(b_, like->getLoc(), value, element), like) : value;
    shape.assign(shapeOf(whole).begin(), shapeOf(whole).end());
    shape[dim] = extent;
    return shapeOf(value) == ArrayRef(shape)
               ? value
               : made(create<BroadcastToOp>(b_, like->getLoc(), value, b_.getI64ArrayAttr(shape)), like);
  }
  if (!llvm::isa<IotaOp, FillOp>(op)) {
    // Where a row depends on its place otherwise, it is made with all others.
    if (operands.empty() || llvm::isa<RopeOp>(op)) {
      return {};
    }
    const ShardingRule rule = weftOp.getShardingRule();
    const ShardingRule::Dim &factors = rule.results[0][dim];
    if (factors.size() != 1 || rule.factors[factors[0]].whole) {
      return {};
    }
    for (auto [operand, tensor] : llvm::zip(operands, rule.operands)) {
      const int64_t from = dimOf(tensor, factors[0]);
      if (from == -1) {
        continue;
      }
      Value rows = from < 0 ? Value() : recomputed(like, operand, from);
      operand = rows || from < 0 ? rows : take(like, operand, flat(), from);
      if (!operand) {
        return {};
      }
    }
  }
  Operation *again = b_.clone(*op);
  again->setOperands(operands);
  Value value = again->getResult(0);
  value.setType(resized(whole, dim, extent));
  llvm::cast<WeftOpInterface>(again).setResultShape(shapeOf(value));
  return value;
}

} // namespace weft::compiler
