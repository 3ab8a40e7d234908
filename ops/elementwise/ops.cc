// Shapes, sharding rules and gradients of the element-wise ops.
#include "ops/elementwise/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/logic/ops.h"
#include "ops/reduce/ops.h"

#define GET_OP_CLASSES
#include "ops/elementwise/ops.cpp.inc"

namespace weft::ir {

namespace {

// Of floating-point numbers alone, or of integers too.
LogicalResult inferBinary(mlir::Operation *op, bool integers, SmallVectorImpl<RankedTensorType> &results) {
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  SmallVector<int64_t> shape;
  if (failed(requireOneElementType(op, lhs, rhs)) ||
      failed(integers ? requireNumber(op, lhs) : requireFloat(op, lhs)) || failed(inferBroadcast(op, shape))) {
    return mlir::failure();
  }
  results.push_back(RankedTensorType::get(shape, tensorOf(lhs).getElementType()));
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
#define WEFT_BINARY(Op, integers, ...)                                                                                 \
  LogicalResult Op::inferTypes(SmallVectorImpl<RankedTensorType> &results) {                                           \
    return inferBinary(*this, integers, results);                                                                      \
  }                                                                                                                    \
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
WEFT_UNARY(AbsOp)
WEFT_UNARY(SignOp)
WEFT_UNARY(SinOp)
WEFT_UNARY(CosOp)
WEFT_UNARY(AddScalarOp)
WEFT_UNARY(PowerOp)
WEFT_BINARY(AddOp, true, Groups{{0, 1}})
WEFT_BINARY(SubOp, true, Groups{{0, 1}})
WEFT_BINARY(MulOp, true, Groups{{0}, {1}})
WEFT_BINARY(DivOp, false, Groups{{0}})
WEFT_BINARY(MaximumOp, true, Groups{})
WEFT_BINARY(MinimumOp, true, Groups{})

LogicalResult ScaleOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  return inferLikeOperand(*this, results);
}
ShardingRule ScaleOp::getShardingRule() { return pointwiseRule(*this).withLinear(Groups{{0}}); }

LogicalResult ClampOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (!getMin() && !getMax()) {
    return emitOpError("expected `min`, `max` or both, got none");
  }
  if (getMin() && getMax() && !(floatOf(*getMin()) <= floatOf(*getMax()))) {
    return emitOpError() << "min: expected at most " << floatOf(*getMax()) << ", got " << floatOf(*getMin());
  }
  return inferLikeOperand(*this, results);
}

ShardingRule ClampOp::getShardingRule() { return pointwiseRule(*this); }

LogicalResult StopGradientOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  results.push_back(withSbp(tensorOf(getInput()), {}));
  return mlir::success();
}

ShardingRule StopGradientOp::getShardingRule() { return pointwiseRule(*this).withLinear(Groups{{0}}); }

LogicalResult StopGradientOp::decompose(mlir::RewriterBase &b) {
  b.replaceOp(*this, getInput());
  return mlir::success();
}

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

namespace {

bool canBeCast(mlir::Type type) {
  return llvm::isa<mlir::FloatType>(type) || type.isInteger(32) || type.isInteger(64) || type.isInteger(8);
}

// Bits of the largest number of an integer type; of i8 that is 255.
unsigned digitsOf(mlir::Type type) { return type.getIntOrFloatBitWidth() - (type.isInteger(8) ? 0 : 1); }

// Whether `wide` has every number of `type`.
bool hasAllOf(mlir::Type wide, mlir::Type type) {
  if (!llvm::isa<mlir::FloatType>(wide)) {
    return !llvm::isa<mlir::FloatType>(type) && digitsOf(wide) >= digitsOf(type);
  }
  const llvm::fltSemantics &a = llvm::cast<mlir::FloatType>(wide).getFloatSemantics();
  if (!llvm::isa<mlir::FloatType>(type)) {
    return llvm::APFloat::semanticsPrecision(a) >= digitsOf(type) &&
           llvm::APFloat::semanticsMaxExponent(a) >= int(digitsOf(type));
  }
  const llvm::fltSemantics &b = llvm::cast<mlir::FloatType>(type).getFloatSemantics();
  return llvm::APFloat::semanticsPrecision(a) >= llvm::APFloat::semanticsPrecision(b) &&
         llvm::APFloat::semanticsMaxExponent(a) >= llvm::APFloat::semanticsMaxExponent(b) &&
         llvm::APFloat::semanticsMinExponent(a) <= llvm::APFloat::semanticsMinExponent(b);
}

} // namespace

LogicalResult CastOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  for (mlir::Type type : {tensorOf(getInput()).getElementType(), getTo()}) {
    if (!canBeCast(type)) {
      return emitOpError() << "expected element types that are floating point, i32, i64 or i8, got " << type;
    }
  }
  results.push_back(RankedTensorType::get(shapeOf(getInput()), getTo()));
  return mlir::success();
}

ShardingRule CastOp::getShardingRule() { return pointwiseRule(*this); }

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

LogicalResult AbsOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<MulOp>(b, getLoc(), g[0], create<SignOp>(b, getLoc(), getInput())));
  return mlir::success();
}

LogicalResult SignOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &out) {
  out.push_back({}); // constant almost everywhere
  return mlir::success();
}

LogicalResult SinOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(create<MulOp>(b, getLoc(), g[0], create<CosOp>(b, getLoc(), getInput())));
  return mlir::success();
}

LogicalResult CosOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value product = create<MulOp>(b, getLoc(), g[0], create<SinOp>(b, getLoc(), getInput()));
  out.push_back(create<NegOp>(b, getLoc(), product));
  return mlir::success();
}

LogicalResult AddScalarOp::buildGradient(RewriterBase &, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(g[0]);
  return mlir::success();
}

LogicalResult PowerOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  double exponent = floatOf(getExponent());
  if (exponent == 0) {
    out.push_back({}); // 1 everywhere; the formula would be 0 times infinity at 0
    return mlir::success();
  }
  Value slope = create<PowerOp>(b, getLoc(), getInput(), number(b, exponent - 1)); // g p x^(p - 1)
  out.push_back(create<ScaleOp>(b, getLoc(), create<MulOp>(b, getLoc(), g[0], slope), number(b, exponent)));
  return mlir::success();
}

LogicalResult ClampOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Value kept = create<EqualOp>(b, getLoc(), getInput(), getResult(), b.getUnitAttr());
  out.push_back(create<MulOp>(b, getLoc(), g[0], kept));
  return mlir::success();
}

LogicalResult StopGradientOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &out) {
  out.push_back({});
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
  return selectGradient(*this, create<GreaterEqualOp>(b, getLoc(), getLhs(), getRhs(), b.getUnitAttr()), b, g[0], out);
}

LogicalResult MinimumOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  return selectGradient(*this, create<GreaterEqualOp>(b, getLoc(), getRhs(), getLhs(), b.getUnitAttr()), b, g[0], out);
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
  mlir::Type from = tensorOf(getInput()).getElementType();
  bool passes = llvm::isa<mlir::FloatType>(from) && llvm::isa<mlir::FloatType>(getTo());
  out.push_back(passes ? create<CastOp>(b, getLoc(), g[0], from).getResult() : Value());
  return mlir::success();
}

LogicalResult BroadcastToOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(reduceToShape(b, getLoc(), g[0], shapeOf(getInput())));
  return mlir::success();
}

} // namespace weft::ir
