// Shape, sharding rule and gradient of scans.
#include "ops/scan/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

#define GET_OP_CLASSES
#include "ops/scan/ops.cpp.inc"

namespace weft::ir {

LogicalResult CumsumOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType input = withSbp(tensorOf(getInput()), {});
  if (failed(requireNumber(*this, getInput())) ||
      failed(requireIndex(*this, "dim", intOf(getDim()), input.getRank()))) {
    return mlir::failure();
  }
  results.push_back(input);
  return mlir::success();
}

// Every dimension but `dim` may be split.
ShardingRule CumsumOp::getShardingRule() {
  ShardingRule rule = pointwiseRule(*this).withLinear({{0}});
  for (int factor : rule.results[0][intOf(getDim())]) {
    rule.factors[factor].whole = true;
  }
  return rule;
}

// An element is in the sums of those behind it: a scan the other way.
LogicalResult CumsumOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  mlir::UnitAttr reverse = getReverse() ? mlir::UnitAttr() : b.getUnitAttr();
  out.push_back(create<CumsumOp>(b, getLoc(), g[0], getDim(), getExclusiveAttr(), reverse));
  return mlir::success();
}

} // namespace weft::ir
