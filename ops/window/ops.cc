// Shapes, sharding rules, gradients and costs of what windows see.
#include "ops/window/ops.h"

#include <limits>

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/elementwise/ops.h"

#define GET_OP_CLASSES
#include "ops/window/ops.cpp.inc"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;
using Numbers = SmallVector<int64_t>;

// How windows lie along the dimensions of a tensor from `dim` on.
struct Windows {
  int64_t dim;
  Numbers size, stride, before, after, dilation;

  int64_t count() const { return int64_t(size.size()); }
  int64_t taps() const {
    int64_t product = 1;
    for (int64_t k : size) {
      product *= k;
    }
    return product;
  }
};

template <typename Op> Windows windowsOf(Op op, int64_t dim, ArrayRef<int64_t> size) {
  auto numbers = [&](std::optional<mlir::ArrayAttr> list, ArrayRef<int64_t> otherwise) {
    return list ? intsOf(*list) : Numbers(otherwise);
  };
  Numbers ones(size.size(), 1), zeros(size.size(), 0);
  Numbers before = numbers(op.getPadding(), zeros);
  return {dim,
          Numbers(size),
          numbers(op.getStride(), ones),
          before,
          numbers(op.getPaddingAfter(), before),
          numbers(op.getDilation(), ones)};
}

template <typename Op> Windows windowsOf(Op op) { return windowsOf(op, intOf(op.getDim()), intsOf(op.getSize())); }

// Of a depthwise convolution, whose weights have the shape `weight`, of an image of `rank` dimensions.
template <typename Op> Windows depthwiseOf(Op op, int64_t rank, ArrayRef<int64_t> weight) {
  return windowsOf(op, rank - int64_t(weight.size()), weight.drop_back());
}

// Numbers are so small that sums and products of two do not overflow.
LogicalResult requireNumbers(mlir::Operation *op, llvm::StringRef name, ArrayRef<int64_t> numbers, size_t count,
                             int64_t least) {
  if (numbers.size() != count) {
    return op->emitOpError() << name << ": expected " << count << " numbers, as `size` has, got " << numbers.size();
  }
  for (int64_t number : numbers) {
    if (number < least || number > std::numeric_limits<int32_t>::max()) {
      return op->emitOpError() << name << ": expected " << least << " or more, got " << number;
    }
  }
  return mlir::success();
}

LogicalResult requireWindows(mlir::Operation *op, const Windows &windows, int64_t rank) {
  const size_t count = windows.size.size();
  if (count < 1 || count > 3) {
    return op->emitOpError() << "size: expected 1 to 3 numbers, got " << count;
  }
  if (failed(requireIndex(op, "dim", windows.dim, rank))) {
    return mlir::failure();
  }
  if (windows.dim + int64_t(count) > rank) {
    return op->emitOpError() << "expected " << count << " dimensions from " << windows.dim << " on, got a tensor of "
                             << rank;
  }
  return mlir::failure(failed(requireNumbers(op, "size", windows.size, count, 1)) ||
                       failed(requireNumbers(op, "stride", windows.stride, count, 1)) ||
                       failed(requireNumbers(op, "padding", windows.before, count, 0)) ||
                       failed(requireNumbers(op, "padding_after", windows.after, count, 0)) ||
                       failed(requireNumbers(op, "dilation", windows.dilation, count, 1)));
}

// The shapes that go with a tensor over which windows slide.
struct Shapes {
  Numbers pooled;   // [outer..., places..., inner...]
  Numbers unfolded; // [outer..., places..., size..., inner...]
};

llvm::FailureOr<Shapes> inferShapes(mlir::Operation *op, const Windows &windows, ArrayRef<int64_t> image) {
  if (failed(requireWindows(op, windows, image.size()))) {
    return mlir::failure();
  }
  Shapes shapes{Numbers(image.take_front(windows.dim)), {}};
  for (int64_t i = 0; i < windows.count(); ++i) {
    int64_t extent = image[windows.dim + i], span = windows.dilation[i] * (windows.size[i] - 1) + 1;
    int64_t room = extent + windows.before[i] + windows.after[i];
    if (span > room) {
      return op->emitOpError() << "expected a window that fits into dimension " << windows.dim + i << ", of " << extent
                               << " elements and " << room - extent << " of padding, got one of " << span;
    }
    shapes.pooled.push_back((room - span) / windows.stride[i] + 1);
  }
  shapes.unfolded = shapes.pooled;
  llvm::append_range(shapes.unfolded, windows.size);
  for (Numbers *shape : {&shapes.pooled, &shapes.unfolded}) {
    llvm::append_range(*shape, image.drop_front(windows.dim + windows.count()));
  }
  if (failed(countElements(op, "result", shapes.unfolded))) {
    return mlir::failure();
  }
  return shapes;
}

// `type`, of which windows see, or a tensor of as many dimensions, in another shape.
RankedTensorType inShape(Value like, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, tensorOf(like).getElementType());
}

// `shape` with other extents from `dim` on, in place of the next `count`.
Numbers withExtents(ArrayRef<int64_t> shape, int64_t dim, int64_t count, ArrayRef<int64_t> extents) {
  Numbers changed(shape.take_front(dim));
  llvm::append_range(changed, extents);
  llvm::append_range(changed, shape.drop_front(dim + count));
  return changed;
}

// The first `outer` and the last `inner` dimensions are those of all tensors and may be split; `weight` has none of the
// outer. What is between them is whole, and of each tensor itself.
ShardingRule windowRule(mlir::Operation *op, int64_t outer, int64_t inner, Value weight = {}) {
  ShardingRule rule;
  auto factors = [&](ArrayRef<int64_t> extents, bool whole) {
    ShardingRule::Tensor dims;
    for (int64_t extent : extents) {
      dims.push_back({int(rule.factors.size())});
      rule.factors.push_back({extent, whole});
    }
    return dims;
  };
  ArrayRef<int64_t> image = shapeOf(op->getOperand(0));
  ShardingRule::Tensor before = factors(image.take_front(outer), false),
                       behind = factors(image.take_back(inner), false);
  auto tensor = [&](Value value) {
    ShardingRule::Tensor dims;
    if (value != weight) {
      dims = before;
    }
    llvm::append_range(dims, factors(shapeOf(value).drop_front(dims.size()).drop_back(inner), true));
    llvm::append_range(dims, behind);
    return dims;
  };
  for (Value operand : op->getOperands()) {
    rule.operands.push_back(tensor(operand));
  }
  rule.results.push_back(tensor(op->getResult(0)));
  return rule;
}

// Dimensions behind those of the windows, of an image of `rank` dimensions.
int64_t innerOf(const Windows &windows, int64_t rank) { return rank - windows.dim - windows.count(); }

// `flops` for each element of the windows of `pooled`.
Cost costOfTaps(const Windows &windows, double flops, RankedTensorType pooled, ArrayRef<RankedTensorType> operands,
                ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = flops * double(windows.taps()) * double(pooled.getNumElements());
  return cost;
}

} // namespace

LogicalResult UnfoldOp::inferTypes(Types &results) {
  llvm::FailureOr<Shapes> shapes = inferShapes(*this, windowsOf(*this), shapeOf(getInput()));
  if (failed(shapes)) {
    return mlir::failure();
  }
  results.push_back(inShape(getInput(), shapes->unfolded));
  return mlir::success();
}

ShardingRule UnfoldOp::getShardingRule() {
  Windows windows = windowsOf(*this);
  return windowRule(*this, windows.dim, innerOf(windows, tensorOf(getInput()).getRank())).withLinear({{0}});
}

LogicalResult UnfoldOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Windows windows = windowsOf(*this);
  mlir::ArrayAttr extents = b.getI64ArrayAttr(shapeOf(getInput()).slice(windows.dim, windows.count()));
  out.push_back(create<FoldOp>(b, getLoc(), g[0], getDim(), getSize(), extents, getStrideAttr(), getPaddingAttr(),
                               getPaddingAfterAttr(), getDilationAttr()));
  return mlir::success();
}

LogicalResult FoldOp::inferTypes(Types &results) {
  Windows windows = windowsOf(*this);
  RankedTensorType input = tensorOf(getInput());
  if (failed(requireFloat(*this, getInput())) ||
      failed(requireWindows(*this, windows, input.getRank() - windows.count())) ||
      failed(requireNumbers(*this, "extents", intsOf(getExtents()), windows.size.size(), 1))) {
    return mlir::failure();
  }
  Numbers image = withExtents(input.getShape(), windows.dim, 2 * windows.count(), intsOf(getExtents()));
  llvm::FailureOr<Shapes> shapes = inferShapes(*this, windows, image);
  if (failed(shapes) || failed(requireType(*this, "input", getInput(), inShape(getInput(), shapes->unfolded)))) {
    return mlir::failure();
  }
  results.push_back(inShape(getInput(), image));
  return mlir::success();
}

ShardingRule FoldOp::getShardingRule() {
  Windows windows = windowsOf(*this);
  return windowRule(*this, windows.dim, innerOf(windows, tensorOf(getResult()).getRank())).withLinear({{0}});
}

LogicalResult FoldOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<UnfoldOp>(b, getLoc(), g[0], getDim(), getSize(), getStrideAttr(), getPaddingAttr(),
                                 getPaddingAfterAttr(), getDilationAttr()));
  return mlir::success();
}

// An addition for each element of the windows.
Cost FoldOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = double(operands[0].getNumElements());
  return cost;
}

LogicalResult MaxPoolOp::inferTypes(Types &results) {
  if (failed(requireFloat(*this, getInput()))) {
    return mlir::failure();
  }
  llvm::FailureOr<Shapes> shapes = inferShapes(*this, windowsOf(*this), shapeOf(getInput()));
  if (failed(shapes)) {
    return mlir::failure();
  }
  results.push_back(inShape(getInput(), shapes->pooled));
  return mlir::success();
}

ShardingRule MaxPoolOp::getShardingRule() {
  Windows windows = windowsOf(*this);
  return windowRule(*this, windows.dim, innerOf(windows, tensorOf(getInput()).getRank()));
}

LogicalResult MaxPoolOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<MaxPoolGradOp>(b, getLoc(), g[0], getInput(), getResult(), getDim(), getSize(), getStrideAttr(),
                                      getPaddingAttr(), getPaddingAfterAttr(), getDilationAttr()));
  return mlir::success();
}

Cost MaxPoolOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  return costOfTaps(windowsOf(*this), 1, results[0], operands, results);
}

LogicalResult MaxPoolGradOp::inferTypes(Types &results) {
  if (failed(requireFloat(*this, getX()))) {
    return mlir::failure();
  }
  llvm::FailureOr<Shapes> shapes = inferShapes(*this, windowsOf(*this), shapeOf(getX()));
  if (failed(shapes) || failed(requireType(*this, "dy", getDy(), inShape(getX(), shapes->pooled))) ||
      failed(requireType(*this, "y", getY(), inShape(getX(), shapes->pooled)))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getX()), {}));
  return mlir::success();
}

ShardingRule MaxPoolGradOp::getShardingRule() {
  Windows windows = windowsOf(*this);
  return windowRule(*this, windows.dim, innerOf(windows, tensorOf(getX()).getRank())).withLinear({{0}});
}

// Each element is compared with those before it in its window.
Cost MaxPoolGradOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Windows windows = windowsOf(*this);
  return costOfTaps(windows, 1 + double(windows.taps()) / 2, operands[0], operands, results);
}

LogicalResult DepthwiseConvOp::inferTypes(Types &results) {
  ArrayRef<int64_t> image = shapeOf(getInput()), weight = shapeOf(getWeight());
  if (weight.size() < 2 || weight.size() > 4 || image.size() < weight.size()) {
    return emitOpError() << "expected [..., extents..., channels] and [size..., channels] of 1 to 3 sizes, got "
                         << withSbp(tensorOf(getInput()), {}) << " and " << withSbp(tensorOf(getWeight()), {});
  }
  if (image.back() != weight.back()) {
    return emitOpError() << "weight: expected " << image.back() << " channels, got " << weight.back();
  }
  if (failed(requireFloat(*this, getInput())) || failed(requireOneElementType(*this, getInput(), getWeight()))) {
    return mlir::failure();
  }
  llvm::FailureOr<Shapes> shapes = inferShapes(*this, depthwiseOf(*this, image.size(), weight), image);
  if (failed(shapes)) {
    return mlir::failure();
  }
  results.push_back(inShape(getInput(), shapes->pooled));
  return mlir::success();
}

ShardingRule DepthwiseConvOp::getShardingRule() {
  int64_t outer = tensorOf(getInput()).getRank() - tensorOf(getWeight()).getRank();
  return windowRule(*this, outer, 1, getWeight()).withLinear({{0}, {1}});
}

LogicalResult DepthwiseConvOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  ArrayRef<int64_t> image = shapeOf(getInput()), weight = shapeOf(getWeight());
  int64_t count = weight.size() - 1;
  mlir::ArrayAttr extents = b.getI64ArrayAttr(image.drop_back().take_back(count));
  mlir::ArrayAttr size = b.getI64ArrayAttr(weight.drop_back());
  out.push_back(create<DepthwiseConvGradInputOp>(b, getLoc(), g[0], getWeight(), extents, getStrideAttr(),
                                                 getPaddingAttr(), getPaddingAfterAttr(), getDilationAttr()));
  Value dw = create<DepthwiseConvGradWeightOp>(b, getLoc(), getInput(), g[0], size, getStrideAttr(), getPaddingAttr(),
                                               getPaddingAfterAttr(), getDilationAttr());
  mlir::Type element = tensorOf(getWeight()).getElementType();
  out.push_back(element.isF32() ? dw : create<CastOp>(b, getLoc(), dw, element).getResult());
  return mlir::success();
}

Cost DepthwiseConvOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Windows windows = depthwiseOf(*this, operands[0].getRank(), operands[1].getShape());
  return costOfTaps(windows, 2, results[0], operands, results);
}

LogicalResult DepthwiseConvGradInputOp::inferTypes(Types &results) {
  ArrayRef<int64_t> dy = shapeOf(getDy()), weight = shapeOf(getWeight());
  if (weight.size() < 2 || weight.size() > 4 || dy.size() < weight.size() || dy.back() != weight.back()) {
    return emitOpError() << "expected [..., places..., channels] and [size..., channels] of 1 to 3 sizes, got "
                         << withSbp(tensorOf(getDy()), {}) << " and " << withSbp(tensorOf(getWeight()), {});
  }
  Windows windows = depthwiseOf(*this, dy.size(), weight);
  if (failed(requireFloat(*this, getDy())) || failed(requireOneElementType(*this, getDy(), getWeight())) ||
      failed(requireNumbers(*this, "extents", intsOf(getExtents()), weight.size() - 1, 1))) {
    return mlir::failure();
  }
  Numbers image = withExtents(dy, windows.dim, windows.count(), intsOf(getExtents()));
  llvm::FailureOr<Shapes> shapes = inferShapes(*this, windows, image);
  if (failed(shapes) || failed(requireType(*this, "dy", getDy(), inShape(getDy(), shapes->pooled)))) {
    return mlir::failure();
  }
  results.push_back(inShape(getDy(), image));
  return mlir::success();
}

ShardingRule DepthwiseConvGradInputOp::getShardingRule() {
  int64_t outer = tensorOf(getDy()).getRank() - tensorOf(getWeight()).getRank();
  return windowRule(*this, outer, 1, getWeight()).withLinear({{0}, {1}});
}

Cost DepthwiseConvGradInputOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Windows windows = depthwiseOf(*this, operands[0].getRank(), operands[1].getShape());
  return costOfTaps(windows, 2, operands[0], operands, results);
}

LogicalResult DepthwiseConvGradWeightOp::inferTypes(Types &results) {
  Numbers weight = intsOf(getSize());
  ArrayRef<int64_t> image = shapeOf(getInput());
  if (image.size() < weight.size() + 1) {
    return emitOpError() << "expected [..., extents..., channels], got " << withSbp(tensorOf(getInput()), {});
  }
  weight.push_back(image.back());
  Windows windows = depthwiseOf(*this, image.size(), weight);
  llvm::FailureOr<Shapes> shapes = inferShapes(*this, windows, image);
  if (failed(shapes) || failed(requireFloat(*this, getInput())) ||
      failed(requireType(*this, "dy", getDy(), inShape(getInput(), shapes->pooled)))) {
    return mlir::failure();
  }
  results.push_back(RankedTensorType::get(weight, mlir::Float32Type::get(getContext())));
  return mlir::success();
}

ShardingRule DepthwiseConvGradWeightOp::getShardingRule() {
  int64_t outer = tensorOf(getInput()).getRank() - int64_t(getSize().size()) - 1;
  return windowRule(*this, outer, 1, getResult()).withLinear({{0}, {1}});
}

Cost DepthwiseConvGradWeightOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Windows windows = depthwiseOf(*this, operands[0].getRank(), results[0].getShape());
  return costOfTaps(windows, 2, operands[1], operands, results);
}

} // namespace weft::ir
