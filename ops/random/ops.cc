// Shapes and sharding rules of initialisers and noise.
#include "ops/random/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/random/ops.cpp.inc"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;
using Effects = SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

LogicalResult inferShape(mlir::Operation *op, mlir::ArrayAttr extents, Types &results) {
  SmallVector<int64_t> shape = intsOf(extents);
  if (failed(countElements(op, "shape", shape))) {
    return mlir::failure();
  }
  results.push_back(RankedTensorType::get(shape, mlir::Float32Type::get(op->getContext())));
  return mlir::success();
}

// Every rank computes its own tile.
ShardingRule tileRule(Value result) { return ShardingRule::pointwise({}, shapeOf(result)); }

// An op may be left out but not merged with another while it has no seed.
void drawEffects(mlir::Operation *op, int64_t seed, Effects &effects) {
  if (seed == 0) {
    effects.emplace_back(mlir::MemoryEffects::Allocate::get(), op->getOpResult(0));
  }
}

} // namespace

LogicalResult RandomNormalOp::inferTypes(Types &results) {
  if (double std = floatOf(getStd()); !(std >= 0)) {
    return emitOpError() << "std: expected at least 0, got " << std;
  }
  return inferShape(*this, getShape(), results);
}

ShardingRule RandomNormalOp::getShardingRule() { return tileRule(getResult()); }

void RandomNormalOp::getEffects(Effects &effects) { drawEffects(*this, getSeed(), effects); }

LogicalResult RandomUniformOp::inferTypes(Types &results) {
  double low = floatOf(getLow()), high = floatOf(getHigh());
  if (!(low <= high)) {
    return emitOpError() << "low: expected at most " << high << ", got " << low;
  }
  return inferShape(*this, getShape(), results);
}

ShardingRule RandomUniformOp::getShardingRule() { return tileRule(getResult()); }

void RandomUniformOp::getEffects(Effects &effects) { drawEffects(*this, getSeed(), effects); }

// Without operands there is nothing that a gradient could flow to.
LogicalResult RandomNormalOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &) {
  return mlir::success();
}

LogicalResult RandomUniformOp::buildGradient(RewriterBase &, ArrayRef<Value>, SmallVectorImpl<Value> &) {
  return mlir::success();
}

} // namespace weft::ir
