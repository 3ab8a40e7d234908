// Reshape: which dimensions of one shape make up which of the other.
#include "ops/dialect/infer.h"
#include "ops/layout/ops.h"

namespace weft::ir {

Value reshape(mlir::OpBuilder &builder, mlir::Location loc, Value input, ArrayRef<int64_t> shape) {
  if (shapeOf(input) == shape) {
    return input;
  }
  return create<ReshapeOp>(builder, loc, input, builder.getI64ArrayAttr(shape));
}

LogicalResult ReshapeOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType input = withSbp(tensorOf(getInput()), {});
  SmallVector<int64_t> shape = intsOf(getShape());
  llvm::FailureOr<int64_t> elements = countElements(*this, "shape", shape);
  if (failed(elements)) {
    return mlir::failure();
  }
  if (*elements != input.getNumElements()) {
    return emitOpError() << "shape: expected " << input.getNumElements() << " elements as in " << input << ", got "
                         << *elements;
  }
  results.push_back(RankedTensorType::get(shape, input.getElementType()));
  return mlir::success();
}

namespace {

// The dimensions of a shape that are not 1, taken one after the other.
struct Walk {
  ArrayRef<int64_t> shape;
  int64_t next = 0;

  void skipOnes() {
    while (next < int64_t(shape.size()) && shape[next] == 1) {
      ++next;
    }
  }
  bool done() const { return next == int64_t(shape.size()); }
  int64_t take(SmallVectorImpl<int64_t> &group) {
    int64_t dim = next++;
    group.push_back(dim);
    skipOnes();
    return shape[dim];
  }
};

// Factors of a group of dimensions `many` that is the one dimension `one`.
void addNested(ShardingRule &rule, ShardingRule::Dim &one, ShardingRule::Tensor &many, ArrayRef<int64_t> dims,
               ArrayRef<int64_t> shape) {
  for (int64_t dim : dims) {
    int factor = int(rule.factors.size());
    rule.factors.push_back({shape[dim], false});
    one.push_back(factor);
    many[dim] = {factor};
  }
}

void addWhole(ShardingRule &rule, ShardingRule::Tensor &tensor, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  for (int64_t dim : dims) {
    tensor[dim] = {int(rule.factors.size())};
    rule.factors.push_back({shape[dim], true});
  }
}

} // namespace

ShardingRule ReshapeOp::getShardingRule() {
  Walk from{shapeOf(getInput())}, to{shapeOf(getResult())};
  ShardingRule rule;
  ShardingRule::Tensor operand(from.shape.size()), result(to.shape.size());
  from.skipOnes();
  to.skipOnes();
  // Both shapes have the same product, so the walks end together.
  while (!from.done() && !to.done()) {
    SmallVector<int64_t> fromDims, toDims;
    int64_t fromProduct = from.take(fromDims), toProduct = to.take(toDims);
    while (fromProduct != toProduct) {
      if (fromProduct < toProduct) {
        fromProduct *= from.take(fromDims);
      } else {
        toProduct *= to.take(toDims);
      }
    }
    if (fromDims.size() == 1) {
      addNested(rule, operand[fromDims[0]], result, toDims, to.shape);
    } else if (toDims.size() == 1) {
      addNested(rule, result[toDims[0]], operand, fromDims, from.shape);
    } else {
      addWhole(rule, operand, fromDims, from.shape);
      addWhole(rule, result, toDims, to.shape);
    }
  }
  rule.operands.push_back(operand);
  rule.results.push_back(result);
  rule.linear = {{0}};
  return rule;
}

LogicalResult ReshapeOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  out.push_back(reshape(b, getLoc(), g[0], shapeOf(getInput())));
  return mlir::success();
}

} // namespace weft::ir
