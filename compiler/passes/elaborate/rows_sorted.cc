// Rows that are sorted by a key and come home, as those of a mixture of experts that drops nothing. All is shown op by
// op:
//
//   keys, Values ──▶ sort ──▶ ids, Places ──▶ take of Values ──▶ Sorted ──▶ grouped_matmul ──▶ Sorted
//    │                          │ scatter_add of the places      counts ──────▲                  │
//    │                          └──────▶ Homes ─────────────────────────────────▶ take of Sorted ┴──▶ Values
//    └──────▶ scatter_add of ones ──▶ Counts, of the keys: element i is in the group of its key, as keys are sorted
//
// A value that is Sorted is g(sort.ids[i]) for a g that makes what it makes of each place's row alone, whatever other
// rows there are. Where a place's element has gone, by Homes, it is g(place) again. A capacity is none of this: which
// choices have a slot depends on the rows before.
#include "compiler/passes/elaborate/rows.h"
#include "ops/constant/ops.h"
#include "ops/layout/ops.h"

namespace weft::compiler {

using namespace weft::ir;

namespace {

// Of a known tensor whose numbers are p / unit, rounded down, at each place p along `dim`: the unit; 0 of any other.
int64_t unitOf(Value table, int64_t dim) {
  auto iota = table.getDefiningOp<IotaOp>();
  if (!tensorOf(table).getElementType().isInteger(32)) {
    return 0;
  }
  if (iota) {
    return intOf(iota.getDim()) == dim ? 1 : 0;
  }
  auto reshape = table.getDefiningOp<ReshapeOp>();
  iota = reshape ? reshape.getInput().getDefiningOp<IotaOp>() : IotaOp();
  if (!iota) {
    return 0;
  }
  const ShardingRule rule = reshape.getShardingRule();
  const ShardingRule::Dim &from = rule.operands[0][intOf(iota.getDim())], &to = rule.results[0][dim];
  if (from.size() != 1 || to.empty() || to[0] != from[0]) {
    return 0;
  }
  int64_t unit = 1;
  for (int factor : ArrayRef(to).drop_front()) {
    unit *= rule.factors[factor].size;
  }
  return unit;
}

int64_t intOr0(std::optional<Attribute> attribute) { return attribute ? intOf(*attribute) : 0; }

} // namespace

LogicalResult RowRewriter::sorted(Operation *op) {
  if (auto sort = llvm::dyn_cast<SortOp>(op)) {
    return sortRows(sort);
  }
  if (auto take = llvm::dyn_cast<TakeOp>(op)) {
    return takeSorted(take);
  }
  if (auto scatter = llvm::dyn_cast<ScatterAddOp>(op)) {
    return scatterSorted(scatter);
  }
  auto product = llvm::dyn_cast<GroupedMatmulOp>(op);
  return product ? multiplySorted(product) : failure();
}

// Lines of places, along the last dimension.
LogicalResult RowRewriter::sortRows(SortOp op) {
  const Rows &keys = of(op.getInput());
  const int64_t dim = intOf(op.getDim());
  if (keys.kind != Rows::Values || keys.dim != dim || dim + 1 != int64_t(shapeOf(op.getInput()).size())) {
    return failure();
  }
  Rows rows = keys;
  rows.sort = op;
  rows.kind = Rows::Sorted;
  resize(op.getValues(), rows, rows_);
  rows.kind = Rows::Places;
  resize(op.getIds(), rows, rows_);
  return success();
}

LogicalResult RowRewriter::takeSorted(TakeOp op) {
  const int64_t dim = intOf(op.getDim()), batch = intOr0(op.getBatch());
  if (!dependsOnTokens(op.getIds()) || op.getLast()) {
    return failure();
  }
  Rows rows = of(op.getIds());
  const Rows *from = dependsOnTokens(op.getInput()) ? &of(op.getInput()) : nullptr;
  if (rows.kind == Rows::Homes) {
    // Each place's own again.
    const int64_t lines = of(rows.sort.getIds()).dim;
    if (!from || from->kind != Rows::Sorted || from->sort != rows.sort || dim != lines || batch != lines) {
      return failure();
    }
    rows.kind = Rows::Values;
    rows.sort = {};
    resize(op.getResult(), rows, rows_);
    return success();
  }
  if (rows.kind != Rows::Places || rows.inner % rows.unit != 0) {
    return failure();
  }
  Rows there = rows; // in the order of the sequence, what the ids are places of
  there.inner = rows.inner / rows.unit;
  if (from) {
    if (from->kind != Rows::Values || from->dim != dim || dim != rows.dim || batch != dim ||
        from->outer != there.outer || from->inner != there.inner) {
      return failure();
    }
    rows.kind = Rows::Sorted;
    rows.unit = 1;
    resize(op.getResult(), rows, rows_);
    return success();
  }
  // A table of places: of choices, whose they are.
  const int64_t unit = unitOf(op.getInput(), 0);
  if (unit == 0 || shapeOf(op.getInput()) != ArrayRef<int64_t>(there.outer * length_ * there.inner) ||
      there.inner % unit != 0) {
    return failure();
  }
  there.dim = 0;
  there.unit = unit;
  op.getInputMutable().assign(places(op, {}, there));
  rows.unit *= unit;
  resize(op.getResult(), rows, rows_);
  return success();
}

LogicalResult RowRewriter::scatterSorted(ScatterAddOp op) {
  const int64_t dim = intOf(op.getDim()), size = intOf(op.getSize());
  if (!dependsOnTokens(op.getIds())) {
    return failure();
  }
  Rows rows = of(op.getIds());
  if (dim != rows.dim || intOr0(op.getBatch()) != dim || dim + 1 != int64_t(shapeOf(op.getIds()).size())) {
    return failure();
  }
  if (rows.kind == Rows::Values) {
    auto ones = op.getUpdates().getDefiningOp<FillOp>();
    if (!ones || !tensorOf(ones.getResult()).getElementType().isInteger(32) || floatOf(ones.getValue()) != 1) {
      return failure();
    }
    op.getUpdatesMutable().assign(filled(ones, rows));
    rows.kind = Rows::Counts;
    rows.keys = op.getIds();
    resize(op.getResult(), rows, rows_);
    return success();
  }
  if (rows.kind != Rows::Places || rows.inner % rows.unit != 0 ||
      size != rows.outer * length_ * (rows.inner / rows.unit)) {
    return failure();
  }
  if (!dependsOnTokens(op.getUpdates())) {
    if (rows.unit != 1 || unitOf(op.getUpdates(), dim) != 1) {
      return failure();
    }
    SmallVector<int64_t> lines(shapeOf(op.getUpdates()).drop_back());
    Rows numbers = rows;
    numbers.sort = {};
    op.getUpdatesMutable().assign(places(op, lines, numbers));
    rows.kind = Rows::Homes;
    resize(op.getResult(), rows, rows_);
    return success();
  }
  // The sum of what each row's places have become.
  const Rows &from = of(op.getUpdates());
  if (from.kind != Rows::Sorted || from.sort != rows.sort) {
    return failure();
  }
  rows.kind = Rows::Values;
  rows.inner /= rows.unit;
  rows.unit = 1;
  rows.sort = {};
  resize(op.getResult(), rows, rows_);
  return success();
}

LogicalResult RowRewriter::multiplySorted(GroupedMatmulOp op) {
  if (!dependsOnTokens(op.getRows()) || !dependsOnTokens(op.getCounts()) || dependsOnTokens(op.getMatrices())) {
    return failure();
  }
  Rows rows = of(op.getRows());
  const Rows &counts = of(op.getCounts());
  if (rows.kind != Rows::Sorted || counts.kind != Rows::Counts || counts.keys != rows.sort.getInput() ||
      rows.sort.getDescending() || rows.dim + 2 != int64_t(shapeOf(op.getRows()).size())) {
    return failure();
  }
  resize(op.getResult(), rows, rows_);
  return success();
}

// The numbers of the places, divided by the unit: of each line along the last dimension.
Value RowRewriter::places(Operation *like, ArrayRef<int64_t> lines, Rows rows) {
  const int64_t extent = rows.outer * rows_ * rows.inner;
  SmallVector<int64_t> shape(lines);
  Rows numbers = rows;
  numbers.kind = Rows::Places;
  numbers.sort = {};
  numbers.dim = int64_t(lines.size());
  numbers.inner = rows.inner / rows.unit;
  shape.push_back(extent / rows.unit);
  if (rows.unit > 1) {
    shape.push_back(rows.unit);
  }
  Value value =
      made(create<IotaOp>(b_, like->getLoc(), b_.getI64ArrayAttr(shape), number(numbers.dim), mlir::TypeAttr()), like);
  note(value, numbers);
  if (rows.unit == 1) {
    return value;
  }
  shape.pop_back();
  shape.back() = extent;
  value = reshaped(like, value, shape);
  numbers.inner = rows.inner;
  note(value, numbers);
  return value;
}

} // namespace weft::compiler
