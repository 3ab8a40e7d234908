// What attention costs.
#include <algorithm>

#include "ops/attention/ops.h"

namespace weft::ir {
namespace {

// How many keys a row sees on average, were the rows those of all keys: a mask by values hides none.
template <typename Op> double keysOfRow(Op op, double keys) {
  if (!op.getCausal()) {
    return keys;
  }
  double seen = op.getWindowAttr() ? std::min(keys, double(intOf(op.getWindowAttr()))) : keys;
  return seen - seen * seen / (2 * keys); // rows below the window see fewer: on average half of it
}

// `products` matrix products of s x d a head with the keys that rows see.
template <typename Op>
Cost headsCost(Op op, int products, RankedTensorType q, RankedTensorType k, ArrayRef<RankedTensorType> operands,
               ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  // Unfused, masked pairs are computed too.
  double keys = double(k.getDimSize(1)), seen = op.getUnfused() ? keys : keysOfRow(op, keys);
  cost.flops = 2.0 * products * double(q.getDimSize(0)) * double(q.getDimSize(2)) * double(q.getDimSize(3)) *
               double(q.getDimSize(1)) * seen;
  cost.contraction = true;
  cost.product = {q.getDimSize(0) * q.getDimSize(2), q.getDimSize(1), k.getDimSize(1), q.getDimSize(3),
                  (op.getCausal() ? "causal_" : "") + op.getKernelName()};
  return cost;
}

// The same where the scores are stored: beside operands and results, scores or weights go through memory `passes`
// times.
template <typename Op>
Cost unfusedCost(Op op, int products, int passes, RankedTensorType q, RankedTensorType k,
                 ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost = headsCost(op, products, q, k, operands, results);
  cost.bytes +=
      double(passes) * double(bytesOf(RankedTensorType::get(
                           {q.getDimSize(0), q.getDimSize(2), q.getDimSize(1), k.getDimSize(1)}, q.getElementType())));
  return cost;
}

} // namespace

Cost AttentionOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  if (getUnfused()) {
    // The first product writes scores, the softmax reads them and writes weights, the second product reads those.
    return unfusedCost(*this, /*products=*/2, /*passes=*/results.size() > 1 ? 3 : 4, operands[0], operands[1], operands,
                       results);
  }
  return headsCost(*this, /*products=*/2, operands[0], operands[1], operands, results);
}

// Scores again, and a product each for the gradients of weights, q, k and v. Unfused, the weights are there: the
// products of dv and of their own gradient read and write them, the softmax's gradient reads both and writes that of
// the scores, which the products of dq and dk read.
Cost AttentionGradOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  if (getUnfused()) {
    return unfusedCost(*this, /*products=*/4, /*passes=*/6, operands[1], operands[2], operands, results);
  }
  return headsCost(*this, /*products=*/5, operands[1], operands[2], operands, results);
}

// Scores again, and the gradient of the weights. Unfused, the weights are there: the product writes their gradient, and
// the softmax's gradient reads both.
Cost AttentionBiasGradOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  if (getUnfused()) {
    return unfusedCost(*this, /*products=*/1, /*passes=*/2, operands[1], operands[2], operands, results);
  }
  return headsCost(*this, /*products=*/2, operands[1], operands[2], operands, results);
}

} // namespace weft::ir
