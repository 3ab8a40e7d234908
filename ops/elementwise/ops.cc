// Shapes, sharding rules and gradients of the element-wise ops.
#include "ops/elementwise/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/reduce/ops.h"

#define GET_OP_CLASSES
#include "ops/elementwise/ops.cpp.inc"

namespace weft::ir {

namespace {

// The shape that both broadcast to, or failure.
LogicalResult broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b, SmallVectorImpl<int64_t> &out) {
  size_t rank = std::max(a.size(), b.size());
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    int64_t y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (x != y && x != 1 && y != 1) {
      return mlir::failure();
    }
    out.push_back(std::max(x, y));
  }
  return mlir::success();
}

LogicalResult inferBinary(mlir::Operation *op, SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType lhs = tensorOf(op->getOperand(0)), rhs = tensorOf(op->getOperand(1));
  SmallVector<int64_t> shape;
  if (lhs.getElementType() != rhs.getElementType()) {
    return op->emitOpError() << "expected one element type, got " << lhs.getElementType() << " and "
                             << rhs.getElementType();
  }
  if (failed(requireFloat(op, op->getOperand(0)))) {
    return mlir::failure();
  }
  if (failed(broadcastShapes(lhs.getShape(), rhs.getShape(), shape))) {
    return op->emitOpError() << "expected shapes that broadcast, got " << withSbp(lhs, {}) << " and "
                             << withSbp(rhs, {});
  }
  results.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return mlir::success();
}

mlir::Attribute number(mlir::OpBuilder &builder, double value) { return builder.getF64FloatAttr(value); }

} // namespace

Value reduceToShape(mlir::OpBuilder &builder, mlir::Location loc, Value gradient, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(gradient);
  if (from == shape) {
    return gradient;
  }
  size_t missing = from.size() - shape.size();
  SmallVector<int64_t> dropped, kept;
  for (size_t i = 0; i < missing; ++i) {
    dropped.push_back(int64_t(i));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1 && from[missing + i] != 1) {
      kept.push_back(int64_t(i));
    }
  }
  if (!dropped.empty()) {
    gradient = reduce(builder, loc, gradient, "sum", dropped, /*keepDims=*/false);
  }
  if (!kept.empty()) {
    gradient = reduce(builder, loc, gradient, "sum", kept, /*keepDims=*/true);
  }
  return gradient;
}

// Shapes and rules.
#define WEFT_UNARY(Op)                                                                                                 \
  LogicalResult Op::inferTypes(SmallVectorImpl<RankedTensorType> &results) {                                           \
    return inferLikeOperand(*this, results);                                                                           \
  }                                                                                                                    \
  ShardingRule Op::getShardingRule() { return pointwiseRule(*this); }
#define WEFT_BINARY(Op, ...)                                                                                           \
  LogicalResult Op::inferTypes(SmallVectorImpl<RankedTensorType> &results) { return inferBinary(*this, results); }     \
  ShardingRule Op::getShardingRule() { return pointwiseRule(*this).withLinear(__VA_ARGS__); }
using Groups = SmallVector<SmallVector<int>>;

LogicalResult NegOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) { return inferLikeOperand(*this, results); }
ShardingRule NegOp::getShardingRule() { return pointwiseRule(*this).withLinear(Groups{{0}}); }
WEFT_UNARY(ExpOp)
WEFT_UNARY(LogOp)
WEFT_UNARY(SqrtOp)
WEFT_UNARY(RsqrtOp)
WEFT_UNARY(TanhOp)
WEFT_UNARY(SigmoidOp)
WEFT_UNARY(SquareOp)
WEFT_BINARY(AddOp, Groups{{0, 1}})
WEFT_BINARY(SubOp, Groups{{0, 1}})
WEFT_BINARY(MulOp, Groups{{0}, {1}})
WEFT_BINARY(DivOp, Groups{{0}})
WEFT_BINARY(MaximumOp, Groups{})
WEFT_BINARY(MinimumOp, Groups{})
WEFT_BINARY(GreaterEqualOp, Groups{})
WEFT_BINARY(EqualOp, Groups{})

LogicalResult ScaleOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return inferLikeOperand(*this, results);
}
ShardingRule ScaleOp::getShardingRule() { return pointwiseRule(*this).withLinear(Groups{{0}}); }

LogicalResult AddNOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (getInputs().empty()) {
    return emitOpError("expected one or more operands, got none");
  }
  if (getInputs().size() > kMostSummed) {
    return emitOpError() << "expected at most " << kMostSummed << " operands, got " << getInputs().size();
  }
  RankedTensorType first = withSbp(tensorOf(getInputs()[0]), {});
  for (Value input : getInputs()) {
    if (withSbp(tensorOf(input), {}) != first) {
      return emitOpError() << "expected operands of one type, got " << first << " and " << withSbp(tensorOf(input), {});
    }
  }
  return inferLikeOperand(*this, results);
}

mlir::Value sumInOrder(mlir::OpBuilder &builder, mlir::Location loc, ArrayRef<Value> values,
                       llvm::function_ref<void(Operation *)> made) {
  Value sum = values.front();
  for (ArrayRef<Value> rest = values.drop_front(); !rest.empty();) {
    SmallVector<Value> terms{sum};
    llvm::append_range(terms, rest.take_front(kMostSummed - 1));
    rest = rest.drop_front(terms.size() - 1);
    auto op = create<AddNOp>(builder, loc, mlir::ValueRange(terms));
    if (made) {
      made(op);
    }
    sum = op.getResult();
  }
  return sum;
}

ShardingRule AddNOp::getShardingRule() {
  return pointwiseRule(*this).withLinear(Groups{llvm::to_vector(llvm::seq<int>(0, int(getInputs().size())))});
}

LogicalResult CastOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireFloat(*this, getInput()))) {
    return mlir::failure();
  }
  if (!llvm::isa<mlir::FloatType>(getTo())) {
    return emitOpError() << "to: expected a floating-point type, got " << getTo();
  }
  results.push_back(RankedTensorType::get(shapeOf(getInput()), getTo()));
  return mlir::success();
}

ShardingRule CastOp::getShardingRule() { return pointwiseRule(*this); }

namespace {

// Whether `wide` has every number of `type`.
bool hasAllOf(mlir::Type wide, mlir::Type type) {
  const llvm::fltSemantics &a = llvm::cast<mlir::FloatType>(wide).getFloatSemantics(),
                           &b = llvm::cast<mlir::FloatType>(type).getFloatSemantics();
  return llvm::APFloat::semanticsPrecision(a) >= llvm::APFloat::semanticsPrecision(b) &&
         llvm::APFloat::semanticsMaxExponent(a) >= llvm::APFloat::semanticsMaxExponent(b) &&
         llvm::APFloat::semanticsMinExponent(a) <= llvm::APFloat::semanticsMinExponent(b);
}

} // namespace

mlir::OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType()) {
    return getInput();
  }
  auto first = getInput().getDefiningOp<CastOp>();
  return first && first.getInput().getType() == getType() && hasAllOf(first.getTo(), getTo()) ? first.getInput()
                                                                                              : mlir::OpFoldResult();
}

LogicalResult BroadcastToOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  SmallVector<int64_t> target = intsOf(getShape()), shape;
  ArrayRef<int64_t> input = shapeOf(getInput());
  if (input.size() > target.size() || failed(broadcastShapes(input, target, shape)) || shape != target) {
    return emitOpError() << "expected " << withSbp(tensorOf(getInput()), {}) << " to broadcast to the shape "
                         << getShape();
  }
  results.push_back(RankedTensorType::get(target, tensorOf(getInput()).getElementType()));
  return mlir::success();
}

ShardingRule BroadcastToOp::getShardingRule() { return pointwiseRule(*this).withLinear(Groups{{0}}); }

// Gradients: `g` is the gradient of the result, `x` the operand, `y` the result.
LogicalResult NegOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<NegOp>(b, getLoc(), g[0]));
  return mlir::success();
}

LogicalResult ExpOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<MulOp>(b, getLoc(), g[0], getResult()));
  return mlir::success();
}

LogicalResult LogOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<DivOp>(b, getLoc(), g[0], getInput()));
  return mlir::success();
}

LogicalResult SqrtOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value half = create<ScaleOp>(b, getLoc(), g[0], number(b, 0.5)); // g / 2y
  out.push_back(create<DivOp>(b, getLoc(), half, getResult()));
  return mlir::success();
}

LogicalResult RsqrtOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value product = create<MulOp>(b, getLoc(), g[0], getResult()); // -g y / 2x
  Value half = create<ScaleOp>(b, getLoc(), product, number(b, -0.5));
  out.push_back(create<DivOp>(b, getLoc(), half, getInput()));
  return mlir::success();
}

LogicalResult TanhOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value square = create<SquareOp>(b, getLoc(), getResult()); // g - g y^2
  out.push_back(create<SubOp>(b, getLoc(), g[0], create<MulOp>(b, getLoc(), g[0], square)));
  return mlir::success();
}

LogicalResult SigmoidOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value slope = create<SubOp>(b, getLoc(), getResult(), create<SquareOp>(b, getLoc(), getResult())); // g (y - y^2)
  out.push_back(create<MulOp>(b, getLoc(), g[0], slope));
  return mlir::success();
}

LogicalResult SquareOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value product = create<MulOp>(b, getLoc(), g[0], getInput());
  out.push_back(create<ScaleOp>(b, getLoc(), product, number(b, 2)));
  return mlir::success();
}

LogicalResult AddOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(reduceToShape(b, getLoc(), g[0], shapeOf(getLhs())));
  out.push_back(reduceToShape(b, getLoc(), g[0], shapeOf(getRhs())));
  return mlir::success();
}

LogicalResult SubOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(reduceToShape(b, getLoc(), g[0], shapeOf(getLhs())));
  Value right = reduceToShape(b, getLoc(), g[0], shapeOf(getRhs()));
  out.push_back(create<NegOp>(b, getLoc(), right));
  return mlir::success();
}

LogicalResult MulOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value left = create<MulOp>(b, getLoc(), g[0], getRhs());
  Value right = create<MulOp>(b, getLoc(), g[0], getLhs());
  out.push_back(reduceToShape(b, getLoc(), left, shapeOf(getLhs())));
  out.push_back(reduceToShape(b, getLoc(), right, shapeOf(getRhs())));
  return mlir::success();
}

LogicalResult DivOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value left = create<DivOp>(b, getLoc(), g[0], getRhs()); // g / b, and -(g / b) y
  Value right = create<NegOp>(b, getLoc(), create<MulOp>(b, getLoc(), left, getResult()));
  out.push_back(reduceToShape(b, getLoc(), left, shapeOf(getLhs())));
  out.push_back(reduceToShape(b, getLoc(), right, shapeOf(getRhs())));
  return mlir::success();
}

namespace {

// The gradient goes to the operand that was chosen, to `lhs` if they are equal.
LogicalResult selectGradient(mlir::Operation *op, Value mask, RewriterBase &b, Value g, SmallVectorImpl<Value> &out) {
  Value left = create<MulOp>(b, op->getLoc(), g, mask);
  Value right = create<SubOp>(b, op->getLoc(), g, left);
  out.push_back(reduceToShape(b, op->getLoc(), left, shapeOf(op->getOperand(0))));
  out.push_back(reduceToShape(b, op->getLoc(), right, shapeOf(op->getOperand(1))));
  return mlir::success();
}

} // namespace

LogicalResult MaximumOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  return selectGradient(*this, create<GreaterEqualOp>(b, getLoc(), getLhs(), getRhs()), b, g[0], out);
}

LogicalResult MinimumOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  return selectGradient(*this, create<GreaterEqualOp>(b, getLoc(), getRhs(), getLhs()), b, g[0], out);
}

LogicalResult GreaterEqualOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &out) {
  out.assign(2, Value()); // constant almost everywhere
  return mlir::success();
}

LogicalResult EqualOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &out) {
  out.assign(2, Value());
  return mlir::success();
}

LogicalResult ScaleOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<ScaleOp>(b, getLoc(), g[0], getFactor()));
  return mlir::success();
}

LogicalResult AddNOp::buildGradient(RewriterBase &, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.assign(getInputs().size(), g[0]);
  return mlir::success();
}

LogicalResult CastOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<CastOp>(b, getLoc(), g[0], tensorOf(getInput()).getElementType()));
  return mlir::success();
}

LogicalResult BroadcastToOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(reduceToShape(b, getLoc(), g[0], shapeOf(getInput())));
  return mlir::success();
}

} // namespace weft::ir
