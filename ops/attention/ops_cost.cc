// What attention costs.
#include <algorithm>
#include <limits>

#include "ops/attention/ops.h"

namespace weft::ir {
namespace {

// A number of `op`; `absent` where it has none.
double numberOf(mlir::Operation *op, StringRef name, double absent) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(name);
  return number ? double(number.getInt()) : absent;
}

// How many keys a row sees on average on the rank that sees most, the one with the last rows: a mask by values hides
// none. In blocks, whatever part of them a rank has, a row sees keys of one of `keys`.
template <typename Op> double keysOfRow(Op op, double rows, double keys) {
  if (!op.getCausal()) {
    return keys;
  }
  const double window = numberOf(op, "window", std::numeric_limits<double>::infinity());
  const double blocks = numberOf(op, "blocks", 1), turn = numberOf(op, "block", 0);
  const double all = double(shapeOf(op.getQ())[1]), block = all / blocks;
  if (turn > 0 && op->hasAttr("zigzag")) {
    return keys / 2; // the earlier half of them, or all of them by the later half of the rows
  }
  if (turn > 0) {
    // All lie before the rows; of all rows, those of the first blocks see none.
    auto seenBy = [&](double row) { return std::clamp(window - (turn - 1) * keys - row, 0.0, keys); };
    return (seenBy(0) + seenBy(block)) / 2 * (rows == all ? (blocks - turn) / blocks : 1);
  }
  const double each = std::min(rows, block), seen = std::min(keys, window);
  const double below = std::max(0.0, seen - (keys - each)); // rows that see fewer than `seen`, on average half of these
  return seen - below * below / (2 * each);
}

// `products` matrix products of s x d a head with the keys that rows see.
template <typename Op>
Cost headsCost(Op op, int products, RankedTensorType q, RankedTensorType k, ArrayRef<RankedTensorType> operands,
               ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  const bool blocks = op->hasAttr("blocks");
  const double rows = double(q.getDimSize(1));
  const double keys = blocks ? double(shapeOf(op.getK())[1]) / numberOf(op, "blocks", 1) : double(k.getDimSize(1));
  // Unfused, masked pairs are computed too.
  const double seen = op.getUnfused() ? keys : keysOfRow(op, rows, keys);
  cost.flops =
      2.0 * products * double(q.getDimSize(0)) * double(q.getDimSize(2)) * double(q.getDimSize(3)) * rows * seen;
  cost.contraction = true;
  cost.product = {q.getDimSize(0) * q.getDimSize(2), q.getDimSize(1), k.getDimSize(1), q.getDimSize(3),
                  (op.getCausal() && numberOf(op, "block", 0) == 0 ? "causal_" : "") + op.getKernelName()};
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
