// Shapes, sharding rules and gradients of transpose, slice, pad and concat.
#include "ops/layout/ops.h"

#include <algorithm>

#include "llvm/Support/MathExtras.h"
#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/layout/ops.cpp.inc"

namespace weft::ir {

namespace {

// `type` with another extent of one dimension, without SBP.
RankedTensorType withExtent(RankedTensorType type, int64_t dim, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  return RankedTensorType::get(shape, type.getElementType());
}

// Every dimension but `dim` is shared by all tensors and may be split; `dim` has an extent
// of its own in each and is whole.
ShardingRule alongRule(mlir::Operation *op, int64_t dim) {
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  ShardingRule rule;
  ShardingRule::Tensor shared(shape.size());
  for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
    if (d != dim) {
      shared[d] = {int(rule.factors.size())};
      rule.factors.push_back({shape[d], false});
    }
  }
  auto tensor = [&](Value value) {
    ShardingRule::Tensor dims = shared;
    dims[dim] = {int(rule.factors.size())};
    rule.factors.push_back({shapeOf(value)[dim], true});
    return dims;
  };
  for (Value operand : op->getOperands()) {
    rule.operands.push_back(tensor(operand));
  }
  rule.results.push_back(tensor(op->getResult(0)));
  rule.linear = {llvm::to_vector(llvm::seq<int>(0, int(op->getNumOperands())))};
  return rule;
}

Value slice(mlir::OpBuilder &b, mlir::Location loc, Value input, int64_t dim, int64_t offset, int64_t size) {
  auto number = [&](int64_t value) { return b.getI64IntegerAttr(value); };
  return create<SliceOp>(b, loc, input, number(dim), number(offset), number(size));
}

} // namespace

LogicalResult TransposeOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType input = tensorOf(getInput());
  SmallVector<int64_t> perm = intsOf(getPerm()), shape;
  if (int64_t(perm.size()) != input.getRank()) {
    return emitOpError() << "perm: expected " << input.getRank() << " dimensions, got " << perm.size();
  }
  llvm::SmallBitVector seen(input.getRank());
  for (int64_t dim : perm) {
    if (failed(requireIndex(*this, "perm", dim, input.getRank()))) {
      return mlir::failure();
    }
    if (seen.test(dim)) {
      return emitOpError() << "perm: expected every dimension once, got " << dim << " twice";
    }
    seen.set(dim);
    shape.push_back(input.getDimSize(dim));
  }
  results.push_back(RankedTensorType::get(shape, input.getElementType()));
  return mlir::success();
}

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule = ShardingRule::pointwise({shapeOf(getInput())}, shapeOf(getInput()));
  for (auto [i, dim] : llvm::enumerate(intsOf(getPerm()))) {
    rule.results[0][i] = rule.operands[0][dim];
  }
  rule.linear = {{0}};
  return rule;
}

LogicalResult TransposeOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  SmallVector<int64_t> perm = intsOf(getPerm()), inverse(perm.size());
  for (auto [i, dim] : llvm::enumerate(perm)) {
    inverse[dim] = int64_t(i);
  }
  out.push_back(create<TransposeOp>(b, getLoc(), g[0], b.getI64ArrayAttr(inverse)));
  return mlir::success();
}

LogicalResult SliceOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType input = tensorOf(getInput());
  int64_t dim = intOf(getDim()), offset = intOf(getOffset()), size = intOf(getSize());
  if (failed(requireIndex(*this, "dim", dim, input.getRank()))) {
    return mlir::failure();
  }
  if (size <= 0) {
    return emitOpError() << "size: expected a positive number, got " << size;
  }
  if (offset < 0 || offset > input.getDimSize(dim) - size) {
    return emitOpError() << "expected a part of 0 to " << input.getDimSize(dim) - 1 << ", got " << offset << " to "
                         << offset + size - 1;
  }
  results.push_back(withExtent(input, dim, size));
  return mlir::success();
}

ShardingRule SliceOp::getShardingRule() { return alongRule(*this, intOf(getDim())); }

LogicalResult SliceOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  int64_t extent = shapeOf(getInput())[intOf(getDim())];
  mlir::Attribute after = b.getI64IntegerAttr(extent - intOf(getOffset()) - intOf(getSize()));
  out.push_back(create<PadOp>(b, getLoc(), g[0], getDim(), getOffset(), after));
  return mlir::success();
}

// All of a tensor is the tensor.
mlir::OpFoldResult SliceOp::fold(FoldAdaptor) {
  bool known = llvm::isa<RankedTensorType>(getInput().getType());
  return known && getInput().getType() == getResult().getType() ? getInput() : mlir::OpFoldResult();
}

LogicalResult PadOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType input = tensorOf(getInput());
  int64_t dim = intOf(getDim()), before = intOf(getBefore()), after = intOf(getAfter());
  if (failed(requireIndex(*this, "dim", dim, input.getRank()))) {
    return mlir::failure();
  }
  for (auto [name, count] : {std::pair("before", before), std::pair("after", after)}) {
    if (count < 0) {
      return emitOpError() << name << ": expected 0 or more, got " << count;
    }
  }
  uint64_t extent = llvm::SaturatingAdd(uint64_t(before), uint64_t(input.getDimSize(dim)), uint64_t(after));
  results.push_back(withExtent(input, dim, int64_t(std::min<uint64_t>(extent, INT64_MAX))));
  return mlir::success();
}

ShardingRule PadOp::getShardingRule() { return alongRule(*this, intOf(getDim())); }

LogicalResult PadOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  int64_t dim = intOf(getDim());
  out.push_back(slice(b, getLoc(), g[0], dim, intOf(getBefore()), shapeOf(getInput())[dim]));
  return mlir::success();
}

LogicalResult ConcatOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (getInputs().empty()) {
    return emitOpError("expected one or more operands, got none");
  }
  RankedTensorType first = withSbp(tensorOf(getInputs()[0]), {});
  int64_t dim = intOf(getDim()), total = 0;
  if (failed(requireIndex(*this, "dim", dim, first.getRank()))) {
    return mlir::failure();
  }
  for (Value input : getInputs()) {
    RankedTensorType type = withSbp(tensorOf(input), {});
    if (type.getRank() != first.getRank() || withExtent(type, dim, 1) != withExtent(first, dim, 1)) {
      return emitOpError() << "expected operands that differ in dimension " << dim << " only, got " << first << " and "
                           << type;
    }
    total += type.getDimSize(dim);
  }
  results.push_back(withExtent(first, dim, total));
  return mlir::success();
}

ShardingRule ConcatOp::getShardingRule() { return alongRule(*this, intOf(getDim())); }

LogicalResult ConcatOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  int64_t dim = intOf(getDim()), offset = 0;
  for (Value input : getInputs()) {
    int64_t size = shapeOf(input)[dim];
    out.push_back(slice(b, getLoc(), g[0], dim, offset, size));
    offset += size;
  }
  return mlir::success();
}

int64_t rowsOfTile(RankedTensorType type, int64_t dims, PlacementAttr placement) {
  int64_t rows = 1;
  for (int64_t extent :
       llvm::ArrayRef(localShape(type.getShape(), sbpOf(type).getStates(), placement.getSizes())).take_front(dims)) {
    rows *= extent;
  }
  return rows;
}

RankedTensorType typeOfRows(RankedTensorType type, int64_t dims, int64_t size, PlacementAttr placement) {
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<SbpState> states(sbpOf(type).getStates());
  std::fill_n(shape.begin(), dims, 1);
  shape[dims - 1] = size;
  for (auto [state, ranks] : llvm::zip(states, placement.getSizes())) {
    if (state.isSplit() && state.dim < dims) {
      state.dim = dims - 1;
      shape[dims - 1] *= ranks;
    }
  }
  return RankedTensorType::get(shape, type.getElementType(), SbpAttr::get(type.getContext(), states));
}

namespace {

// Emits an error if `type` has no such rows.
LogicalResult requireRows(mlir::Operation *op, RankedTensorType type, int64_t dims) {
  if (!op->getParentOfType<GraphOp>()) {
    return op->emitOpError("expected to be in a weft.graph, which says what ranks there are");
  }
  if (!sbpOf(type)) {
    return op->emitOpError("expected an SBP on operands and result");
  }
  if (dims < 1 || dims > type.getRank()) {
    return op->emitOpError() << "rows: expected 1 to " << type.getRank() << ", got " << dims;
  }
  return mlir::success();
}

PlacementAttr placementOf(mlir::Operation *op) { return op->getParentOfType<GraphOp>().getPlacement(stageOf(op)); }

} // namespace

LogicalResult CastPartsOp::verify() {
  RankedTensorType input = tensorOf(getInput());
  RankedTensorType expected = input.clone(tensorOf(getResult()).getElementType());
  return sbpOf(input) && tensorOf(getResult()) == expected
             ? mlir::success()
             : emitOpError() << "expected one shape and an SBP, got " << input << " and " << tensorOf(getResult());
}

LogicalResult TakeRowsOp::verify() {
  RankedTensorType input = tensorOf(getInput());
  const int64_t dims = int64_t(getRows()), offset = int64_t(getOffset()), size = int64_t(getSize());
  if (failed(requireRows(*this, input, dims))) {
    return mlir::failure();
  }
  const int64_t rows = rowsOfTile(input, dims, placementOf(*this));
  if (size < 1 || offset < 0 || offset > rows - size) {
    return emitOpError() << "expected some of " << rows << " rows, got " << size << " from " << offset << " on";
  }
  RankedTensorType expected = typeOfRows(input, dims, size, placementOf(*this));
  return tensorOf(getResult()) == expected
             ? mlir::success()
             : emitOpError() << "result: expected " << expected << ", got " << tensorOf(getResult());
}

LogicalResult JoinRowsOp::verify() {
  RankedTensorType result = tensorOf(getResult());
  const int64_t dims = int64_t(getRows());
  if (failed(requireRows(*this, result, dims))) {
    return mlir::failure();
  }
  PlacementAttr placement = placementOf(*this);
  int64_t rows = 0;
  for (auto [index, part] : llvm::enumerate(getParts())) {
    const bool isLaidOut = tensorOf(part).getRank() == result.getRank() && sbpOf(tensorOf(part));
    const int64_t own = isLaidOut ? rowsOfTile(tensorOf(part), dims, placement) : 1;
    RankedTensorType expected = typeOfRows(result, dims, own, placement);
    if (tensorOf(part) != expected) {
      return emitOpError() << "part " << index << ": expected " << expected << ", got " << tensorOf(part);
    }
    rows += own;
  }
  const int64_t all = rowsOfTile(result, dims, placement);
  return rows == all ? mlir::success() : emitOpError() << "expected parts of " << all << " rows, got " << rows;
}

} // namespace weft::ir
