// Shapes, sharding rules, gradients and decomposition of batch normalisation.
#include "ops/batch_norm/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/elementwise/ops.h"
#include "ops/layout/ops.h"
#include "ops/reduce/ops.h"

#define GET_OP_CLASSES
#include "ops/batch_norm/ops.cpp.inc"

namespace weft::ir {

namespace {

using Types = SmallVectorImpl<RankedTensorType>;
using Costs = ArrayRef<RankedTensorType>;

// What of a list of one entry a dimension is not in `dims`.
template <typename T> SmallVector<T> keptOf(ArrayRef<T> all, ArrayRef<int64_t> dims) {
  SmallVector<T> kept;
  for (auto [d, entry] : llvm::enumerate(all)) {
    if (!llvm::is_contained(dims, int64_t(d))) {
      kept.push_back(entry);
    }
  }
  return kept;
}

RankedTensorType f32Tensor(mlir::Operation *op, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, mlir::Float32Type::get(op->getContext()));
}

// A number for each index that `dims` leave.
RankedTensorType statisticType(mlir::Operation *op, Value input, mlir::ArrayAttr dims) {
  return f32Tensor(op, keptOf(shapeOf(input), intsOf(dims)));
}

LogicalResult requireDims(mlir::Operation *op, Value input, mlir::ArrayAttr dims) {
  const int64_t rank = tensorOf(input).getRank();
  if (failed(requireFloat(op, input))) {
    return mlir::failure();
  }
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : intsOf(dims)) {
    if (failed(requireIndex(op, "dims", dim, rank))) {
      return mlir::failure();
    }
    if (seen.test(dim)) {
      return op->emitOpError() << "dims: expected distinct dimensions, got " << dim << " twice";
    }
    seen.set(dim);
  }
  if (seen.none() || seen.all()) {
    return op->emitOpError() << "dims: expected one or more and not all of the " << rank << " dimensions, got "
                             << seen.count();
  }
  return mlir::success();
}

LogicalResult requireEps(mlir::Operation *op, mlir::Attribute eps) {
  return floatOf(eps) > 0 ? mlir::success()
                          : op->emitOpError() << "eps: expected a positive number, got " << floatOf(eps);
}

LogicalResult requireStatistics(mlir::Operation *op, Value input, mlir::ArrayAttr dims,
                                ArrayRef<std::pair<llvm::StringRef, Value>> statistics) {
  return mlir::failure(llvm::any_of(statistics, [&](const auto &it) {
    return failed(requireType(op, it.first, it.second, statisticType(op, input, dims)));
  }));
}

// Of the channels.
LogicalResult requireVector(mlir::Operation *op, llvm::StringRef what, Value vector, Value input,
                            mlir::ArrayAttr dims) {
  return requireType(op, what, vector, f32Tensor(op, statisticType(op, input, dims).getShape().take_back()));
}

// One letter of a rule: a tensor of all dimensions, of those that are kept, or of the channels.
enum class Of { All, Kept, Channels };

ShardingRule ruleFor(Value input, mlir::ArrayAttr dims, ArrayRef<Of> operands, ArrayRef<Of> results) {
  ShardingRule rule = ShardingRule::pointwise({}, shapeOf(input));
  const ShardingRule::Tensor all = rule.results[0];
  const auto kept = keptOf(ArrayRef<ShardingRule::Dim>(all), intsOf(dims));
  auto tensor = [&](Of of) {
    return of == Of::All    ? all
           : of == Of::Kept ? ShardingRule::Tensor(kept.begin(), kept.end())
                            : ShardingRule::Tensor(1, kept.back());
  };
  rule.operands.clear();
  rule.results.clear();
  llvm::transform(operands, std::back_inserter(rule.operands), tensor);
  llvm::transform(results, std::back_inserter(rule.results), tensor);
  return rule;
}

// Every tensor moved once, and so many FLOPs an element of operand 0.
Cost costOf(Costs operands, Costs results, double flops) {
  Cost cost = elementwiseCost(operands, results);
  cost.flops = flops * double(operands[0].getNumElements());
  return cost;
}

// The statistics that forward and gradient share; common subexpressions are merged later.
std::pair<Value, Value> statisticsOf(mlir::OpBuilder &b, BatchNormOp op) {
  Value x = op.getInput();
  Value mean = reduce(b, op.getLoc(), x, "mean", intsOf(op.getDims()), /*keepDims=*/false,
                      /*toF32=*/!tensorOf(x).getElementType().isF32());
  return {mean, create<BatchVarianceOp>(b, op.getLoc(), x, mean, op.getDims())};
}

// The sum of what each index that is kept has over all but the channels.
Value overChannels(mlir::OpBuilder &b, mlir::Location loc, Value value) {
  const int64_t rank = tensorOf(value).getRank();
  return rank == 1 ? value : reduce(b, loc, value, "sum", llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)), false);
}

} // namespace

// ---- batch_norm -------------------------------------------------------------

LogicalResult BatchNormOp::inferTypes(Types &results) {
  if (failed(requireDims(*this, getInput(), getDims())) || failed(requireEps(*this, getEps())) ||
      failed(requireVector(*this, "weight", getWeight(), getInput(), getDims())) ||
      failed(requireVector(*this, "bias", getBias(), getInput(), getDims()))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getInput()), {}));
  results.append(2, statisticType(*this, getInput(), getDims()));
  return mlir::success();
}

// What can be split is what it decomposes into.
ShardingRule BatchNormOp::getShardingRule() {
  return ShardingRule::replicated({shapeOf(getInput()), shapeOf(getWeight()), shapeOf(getBias())},
                                  {shapeOf(getResult()), shapeOf(getMean()), shapeOf(getVariance())});
}

LogicalResult BatchNormOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  if (g[1] || g[2]) {
    return emitOpError("expected no gradient of the statistics, got one; weft.stop_gradient keeps it away");
  }
  // Beside the forward op, where CSE merges them with those that it decomposes into.
  mlir::OpBuilder::InsertPoint backward = b.saveInsertionPoint();
  b.setInsertionPoint(*this);
  auto [mean, variance] = statisticsOf(b, *this);
  b.restoreInsertionPoint(backward);
  auto sums = create<BatchNormSumsOp, 2>(b, getLoc(), g[0], getInput(), mean, variance, getDims(), getEps());
  out.push_back(create<BatchNormGradOp>(b, getLoc(), g[0], getInput(), mean, variance, getWeight(), sums.getDySum(),
                                        sums.getDynSum(), getDims(), getEps()));
  out.push_back(overChannels(b, getLoc(), sums.getDynSum()));
  out.push_back(overChannels(b, getLoc(), sums.getDySum()));
  return mlir::success();
}

LogicalResult BatchNormOp::decompose(RewriterBase &b) {
  auto [mean, variance] = statisticsOf(b, *this);
  Value result =
      create<BatchNormApplyOp>(b, getLoc(), getInput(), mean, variance, getWeight(), getBias(), getDims(), getEps());
  b.replaceOp(*this, {result, mean, variance});
  return mlir::success();
}

// ---- its pieces -------------------------------------------------------------

LogicalResult BatchVarianceOp::inferTypes(Types &results) {
  if (failed(requireDims(*this, getInput(), getDims())) ||
      failed(requireStatistics(*this, getInput(), getDims(), {{"mean", getMean()}}))) {
    return mlir::failure();
  }
  results.push_back(statisticType(*this, getInput(), getDims()));
  return mlir::success();
}

ShardingRule BatchVarianceOp::getShardingRule() {
  return ruleFor(getInput(), getDims(), {Of::All, Of::Kept}, {Of::Kept});
}

Cost BatchVarianceOp::getCost(Costs operands, Costs results) { return costOf(operands, results, 3); }

LogicalResult BatchNormApplyOp::inferTypes(Types &results) {
  if (failed(requireDims(*this, getInput(), getDims())) || failed(requireEps(*this, getEps())) ||
      failed(requireStatistics(*this, getInput(), getDims(), {{"mean", getMean()}, {"variance", getVariance()}})) ||
      failed(requireVector(*this, "weight", getWeight(), getInput(), getDims())) ||
      failed(requireVector(*this, "bias", getBias(), getInput(), getDims()))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getInput()), {}));
  return mlir::success();
}

ShardingRule BatchNormApplyOp::getShardingRule() {
  return ruleFor(getInput(), getDims(), {Of::All, Of::Kept, Of::Kept, Of::Channels, Of::Channels}, {Of::All});
}

Cost BatchNormApplyOp::getCost(Costs operands, Costs results) { return costOf(operands, results, 3); }

// With r = 1 / sqrt(variance + eps): dx = weight r dy, dmean = -weight r sum dy, dvariance = -weight r^2 / 2 sum dy n.
LogicalResult BatchNormApplyOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  mlir::Location loc = getLoc();
  auto sums = create<BatchNormSumsOp, 2>(b, loc, g[0], getInput(), getMean(), getVariance(), getDims(), getEps());
  Value shifted = create<AddScalarOp>(b, loc, getVariance(), getEps());
  Value rstd = create<RsqrtOp>(b, loc, shifted);
  Value scale = create<MulOp>(b, loc, rstd, getWeight());
  SmallVector<int64_t> alone(shapeOf(getInput()));
  for (int64_t dim : intsOf(getDims())) {
    alone[dim] = 1;
  }
  Value factor = reshape(b, loc, scale, alone);
  mlir::Type element = tensorOf(g[0]).getElementType();
  if (!element.isF32()) {
    factor = create<CastOp>(b, loc, factor, element);
  }
  out.push_back(create<MulOp>(b, loc, g[0], factor));
  Value product = create<MulOp>(b, loc, scale, sums.getDySum());
  out.push_back(create<NegOp>(b, loc, product));
  Value twice = create<MulOp>(b, loc, create<MulOp>(b, loc, scale, rstd), sums.getDynSum());
  out.push_back(create<ScaleOp>(b, loc, twice, b.getF64FloatAttr(-0.5)));
  out.push_back(overChannels(b, loc, sums.getDynSum()));
  out.push_back(overChannels(b, loc, sums.getDySum()));
  return mlir::success();
}

LogicalResult BatchNormSumsOp::inferTypes(Types &results) {
  if (failed(requireDims(*this, getDy(), getDims())) || failed(requireEps(*this, getEps())) ||
      failed(requireType(*this, "input", getInput(), withSbp(tensorOf(getDy()), {}))) ||
      failed(requireStatistics(*this, getDy(), getDims(), {{"mean", getMean()}, {"variance", getVariance()}}))) {
    return mlir::failure();
  }
  results.append(2, statisticType(*this, getDy(), getDims()));
  return mlir::success();
}

ShardingRule BatchNormSumsOp::getShardingRule() {
  return ruleFor(getDy(), getDims(), {Of::All, Of::All, Of::Kept, Of::Kept}, {Of::Kept, Of::Kept}).withLinear({{0}});
}

Cost BatchNormSumsOp::getCost(Costs operands, Costs results) { return costOf(operands, results, 5); }

LogicalResult BatchNormGradOp::inferTypes(Types &results) {
  if (failed(requireDims(*this, getDy(), getDims())) || failed(requireEps(*this, getEps())) ||
      failed(requireType(*this, "input", getInput(), withSbp(tensorOf(getDy()), {}))) ||
      failed(requireStatistics(
          *this, getDy(), getDims(),
          {{"mean", getMean()}, {"variance", getVariance()}, {"dy_sum", getDySum()}, {"dyn_sum", getDynSum()}})) ||
      failed(requireVector(*this, "weight", getWeight(), getDy(), getDims()))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getDy()), {}));
  return mlir::success();
}

ShardingRule BatchNormGradOp::getShardingRule() {
  return ruleFor(getDy(), getDims(), {Of::All, Of::All, Of::Kept, Of::Kept, Of::Channels, Of::Kept, Of::Kept},
                 {Of::All})
      .withLinear({{0, 5, 6}});
}

Cost BatchNormGradOp::getCost(Costs operands, Costs results) { return costOf(operands, results, 5); }

} // namespace weft::ir
