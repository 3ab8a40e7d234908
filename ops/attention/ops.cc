// Shapes, sharding rules and gradient of attention.
#include "ops/attention/ops.h"

#include <cmath>

#include "ops/dialect/infer.h"

namespace weft::ir {
namespace {

LogicalResult requireHeads(mlir::Operation *op, Value qValue, Value kValue, Value vValue) {
  RankedTensorType q = withSbp(tensorOf(qValue), {}), k = withSbp(tensorOf(kValue), {});
  RankedTensorType v = withSbp(tensorOf(vValue), {});
  for (auto [name, type] : {std::pair("q", q), std::pair("k", k), std::pair("v", v)}) {
    if (type.getRank() != 4) {
      return op->emitOpError() << name << ": expected [batch, rows, heads, head size], got " << type;
    }
    if (!llvm::isa<mlir::FloatType>(type.getElementType())) {
      return op->emitOpError() << name << ": expected a floating-point element type, got " << type.getElementType();
    }
  }
  if (k.getElementType() != q.getElementType()) {
    return op->emitOpError() << "k: expected the element type " << q.getElementType() << ", got " << k.getElementType();
  }
  if (failed(requireType(op, "v", vValue, k))) {
    return mlir::failure();
  }
  if (k.getDimSize(0) != q.getDimSize(0)) {
    return op->emitOpError() << "k: expected the batch " << q.getDimSize(0) << ", got " << k.getDimSize(0);
  }
  if (k.getDimSize(3) != q.getDimSize(3)) {
    return op->emitOpError() << "k: expected the head size " << q.getDimSize(3) << ", got " << k.getDimSize(3);
  }
  if (q.getDimSize(2) % k.getDimSize(2) != 0) {
    return op->emitOpError() << "q: expected a multiple of the " << k.getDimSize(2) << " key heads, got "
                             << q.getDimSize(2) << " heads";
  }
  return mlir::success();
}

LogicalResult requireWindow(mlir::Operation *op, Value q, Value k, bool causal, mlir::Attribute window) {
  int64_t queries = unpaddedShapeOf(q)[1], keys = shapeOf(k)[1];
  if (causal && keys < queries) {
    return op->emitOpError() << "causal: expected at least as many keys as queries, got " << keys << " keys for "
                             << queries << " queries";
  }
  if (window && !causal) {
    return op->emitOpError() << "window: expected causal beside it";
  }
  if (window && intOf(window) <= 0) {
    return op->emitOpError() << "window: expected a positive number of keys, got " << intOf(window);
  }
  return mlir::success();
}

// The extents of scores: [batch, query heads, queries, keys].
SmallVector<int64_t> scoresOf(Value q, Value k) { return {shapeOf(q)[0], shapeOf(q)[2], shapeOf(q)[1], shapeOf(k)[1]}; }

// That `value` is [b, n, s, t] or 1 in each of them.
LogicalResult requireOfScores(mlir::Operation *op, llvm::StringRef what, Value value, Value q, Value k) {
  SmallVector<int64_t> scores = scoresOf(q, k);
  ArrayRef<int64_t> shape = shapeOf(value);
  bool fits = shape.size() == scores.size();
  for (size_t i = 0; fits && i < scores.size(); ++i) {
    fits = shape[i] == 1 || shape[i] == scores[i];
  }
  if (fits) {
    return mlir::success();
  }
  mlir::InFlightDiagnostic error = op->emitOpError() << what << ": expected [batch, heads, queries, keys], ";
  llvm::interleave(scores, error, " x ");
  return error << ", or 1 in any of them, got " << withSbp(tensorOf(value), {});
}

LogicalResult requireBiasAndMask(mlir::Operation *op, Value q, Value k, Value bias, Value mask) {
  if (bias && !tensorOf(bias).getElementType().isF32()) {
    return op->emitOpError() << "bias: expected the element type f32, got " << tensorOf(bias).getElementType();
  }
  if (bias && failed(requireOfScores(op, "bias", bias, q, k))) {
    return mlir::failure();
  }
  return mlir::failure(mask &&
                       (failed(requireBoolean(op, "mask", mask)) || failed(requireOfScores(op, "mask", mask, q, k))));
}

// Into how many blocks rows and keys are cut, for which turn; 0 blocks where they are not.
struct Blocks {
  int64_t turn = 0, count = 0;
};
template <typename Op> Blocks blocksOf(Op op) {
  auto count = op->template getAttrOfType<mlir::IntegerAttr>("blocks");
  auto turn = op->template getAttrOfType<mlir::IntegerAttr>("block");
  return count && turn ? Blocks{turn.getInt(), count.getInt()} : Blocks();
}

LogicalResult requireBlocks(mlir::Operation *op, Value q, Value k, bool unfused) {
  if (op->hasAttr("block") != op->hasAttr("blocks") || (unfused && op->hasAttr("block"))) {
    return op->emitOpError("block: expected `blocks` beside it, and not `unfused`");
  }
  Blocks blocks = blocksOf(op);
  if (!op->hasAttr("blocks")) {
    return mlir::success();
  }
  if (blocks.count < 1 || shapeOf(q)[1] % blocks.count != 0 || shapeOf(k)[1] % blocks.count != 0) {
    return op->emitOpError() << "blocks: expected a number that divides " << shapeOf(q)[1] << " rows and "
                             << shapeOf(k)[1] << " keys, got " << blocks.count;
  }
  if (blocks.turn < 0 || blocks.turn >= blocks.count) {
    return op->emitOpError() << "block: expected 0 to " << blocks.count - 1 << ", got " << blocks.turn;
  }
  return mlir::success();
}

// Whether all that hides a key from a row is that the key comes later.
template <typename Op> bool isCausalAlone(Op op) {
  return op.getCausal() && !op.getWindowAttr() && !op.getBias() && !op.getMask() &&
         shapeOf(op.getQ())[1] == shapeOf(op.getK())[1];
}

template <typename Op> LogicalResult requireZigzag(Op op) {
  if (!op->hasAttr("zigzag")) {
    return mlir::success();
  }
  const Blocks blocks = blocksOf(op);
  if (blocks.count == 0 || !isCausalAlone(op) || shapeOf(op.getQ())[1] / blocks.count % 2 != 0) {
    return op->emitOpError(
        "zigzag: expected blocks of an even number of rows and as many keys, causal, without window, "
        "bias and mask");
  }
  return mlir::success();
}

// The checks that attention and its gradients share.
template <typename Op> LogicalResult requireAttention(Op op) {
  return mlir::failure(failed(requireHeads(op, op.getQ(), op.getK(), op.getV())) ||
                       failed(requireBlocks(op, op.getQ(), op.getK(), op.getUnfused())) || failed(requireZigzag(op)) ||
                       failed(requireWindow(op, op.getQ(), op.getK(), op.getCausal(), op.getWindowAttr())) ||
                       failed(requireBiasAndMask(op, op.getQ(), op.getK(), op.getBias(), op.getMask())));
}

// The type of what the gradients need: the log-sum-exp [b, n, s], or the weights [b, n, s, t].
template <typename Op> RankedTensorType savedType(Op op) {
  SmallVector<int64_t> shape = scoresOf(op.getQ(), op.getK());
  if (op.getUnfused()) {
    return RankedTensorType::get(shape, tensorOf(op.getQ()).getElementType());
  }
  return RankedTensorType::get(ArrayRef(shape).drop_back(), mlir::Float32Type::get(op.getContext()));
}

template <typename Op> LogicalResult requireGradient(Op op) {
  if (failed(requireAttention(op))) {
    return mlir::failure();
  }
  RankedTensorType q = withSbp(tensorOf(op.getQ()), {});
  for (auto [name, value, expected] : {std::tuple("dout", op.getDout(), q), std::tuple("out", op.getOut(), q),
                                       std::tuple(op.getUnfused() ? "weights" : "lse", op.getSaved(), savedType(op))}) {
    if (failed(requireType(op, name, value, expected))) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

// The word of a bias or mask: the letters of the scores, 1 where it is the same along one.
std::string wordOf(Value value) {
  std::string word = "bQsT";
  for (auto [letter, extent] : llvm::zip(word, shapeOf(value))) {
    letter = extent == 1 ? '1' : letter;
  }
  return word;
}

// The words of the operands, of which the last may be a bias and a mask.
template <typename Op> std::string operandWords(Op op, std::string words) {
  for (Value value : {Value(op.getBias()), Value(op.getMask())}) {
    words += value ? "," + wordOf(value) : "";
  }
  return words;
}

// The words of dout, q, k, v, out and what is saved, and of a bias and a mask.
template <typename Op> std::string gradientWords(Op op) {
  return operandWords(op, op.getUnfused() ? "bsQD,bsQD,bTKD,bTKD,bsQD,bQsT" : "bsQD,bsQD,bTKD,bTKD,bsQD,bQs");
}

// A rule's text with Q in place of the query heads and K in place of the key heads. Key head `m` and the query
// heads that read it move together; where a rank has a single key head, its query heads may be split. In blocks, those
// of rows and keys move together, and bias and mask have all keys.
template <typename Op> ShardingRule headsRule(Op op, llvm::StringRef pattern) {
  int64_t keyHeads = shapeOf(op.getK())[2], group = shapeOf(op.getQ())[2] / keyHeads;
  const Blocks blocks = blocksOf(op);
  std::string text;
  for (auto [i, letter] : llvm::enumerate(pattern)) {
    if (letter == 'Q') {
      text += keyHeads == 1 ? "g" : "(mg)";
    } else if (letter == 'K') {
      text += keyHeads == 1 ? "1" : "m";
    } else if (blocks.count > 0 && letter == 's') {
      text += "(cs)";
    } else if (blocks.count > 0 && letter == 'T') {
      text += pattern[i + 1] == 'K' ? "(cT)" : "U";
    } else {
      text += letter;
    }
  }
  SmallVector<ArrayRef<int64_t>> operands = llvm::map_to_vector(op->getOperands(), shapeOf);
  SmallVector<ArrayRef<int64_t>> results = llvm::map_to_vector(op->getResults(), [](Value r) { return shapeOf(r); });
  SmallVector<std::pair<char, int64_t>> sizes = {{'g', group}};
  if (blocks.count > 0) {
    sizes.append({{'c', blocks.count},
                  {'s', shapeOf(op.getQ())[1] / blocks.count},
                  {'T', shapeOf(op.getK())[1] / blocks.count}});
  }
  return ShardingRule::parse(text, operands, results, sizes);
}

// The rule with its ring, in which keys, values and the gradients of both go round.
// `zigzag` is what an exchange of halves would move, where one makes the ranks' work even.
template <typename Op>
ShardingRule ringRule(Op op, ShardingRule &&rule, ArrayRef<int> operands, ArrayRef<int> results,
                      ShardingRule::Ring::Zigzag &&zigzag) {
  if (op.getUnfused() || blocksOf(op).count > 0) {
    return std::move(rule);
  }
  const int64_t rows = shapeOf(op.getQ())[1], keys = shapeOf(op.getK())[1];
  // Where there are fewer rows than keys, rows and keys of one place lie in different parts.
  const int64_t reach = op.getWindowAttr() && rows == keys ? std::min(keys, intOf(op.getWindowAttr())) : keys;
  rule.ring = ShardingRule::Ring{rule.operands[operands[0] - 1][1][0],
                                 rule.operands[operands[0]][1][0],
                                 SmallVector<int>(operands),
                                 SmallVector<int>(results),
                                 reach,
                                 {}};
  if (isCausalAlone(op)) {
    rule.ring->zigzag = std::move(zigzag);
  }
  return std::move(rule);
}

// `causal` as 0 or 1, `zigzag` as 1, and `scale` always given. The kernel's name says whether it is unfused.
template <typename Op> void headsAttributes(Op op, mlir::NamedAttrList &attributes) {
  mlir::Builder builder(op.getContext());
  attributes = inherentAttributes(op);
  attributes.erase("unfused");
  attributes.set("causal", builder.getI64IntegerAttr(op.getCausal() ? 1 : 0));
  if (attributes.get("zigzag")) {
    attributes.set("zigzag", builder.getI64IntegerAttr(1));
  }
  attributes.set("scale", op.getScaleAttr() ? op.getScaleAttr()
                                            : builder.getF64FloatAttr(1.0 / std::sqrt(double(shapeOf(op.getQ())[3]))));
}

} // namespace

LogicalResult AttentionOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireAttention(*this))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getQ()), {}));
  if (getSaved()) {
    results.push_back(savedType(*this));
  }
  return mlir::success();
}

ShardingRule AttentionOp::getShardingRule() {
  llvm::StringRef saved = !getSaved() ? "" : getUnfused() ? ",bQsT" : ",bQs";
  return ringRule(*this, headsRule(*this, operandWords(*this, "bsQD,bTKD,bTKD") + "->bsQD" + saved.str()), {1, 2}, {},
                  {{0, 1, 2}, {0}});
}

LogicalResult AttentionOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  AttentionOp forward = *this;
  if (!getSaved()) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(*this);
    forward = create<AttentionOp, 2>(b, getLoc(), getQ(), getK(), getV(), getBias(), getMask(), getCausalAttr(),
                                     getWindowAttr(), getUnfusedAttr(), getScaleAttr(), getBlockAttr(), getBlocksAttr(),
                                     getZigzagAttr());
    forward->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
    b.replaceOp(*this, forward.getOut());
  }
  auto gradient = create<AttentionGradOp, 3>(
      b, forward.getLoc(), g[0], forward.getQ(), forward.getK(), forward.getV(), forward.getOut(), forward.getSaved(),
      forward.getBias(), forward.getMask(), forward.getCausalAttr(), forward.getWindowAttr(), forward.getUnfusedAttr(),
      forward.getScaleAttr(), forward.getBlockAttr(), forward.getBlocksAttr(), forward.getZigzagAttr());
  out.append(gradient->result_begin(), gradient->result_end());
  if (forward.getBias()) {
    out.push_back(create<AttentionBiasGradOp>(b, forward.getLoc(), g[0], forward.getQ(), forward.getK(), forward.getV(),
                                              forward.getOut(), forward.getSaved(), forward.getBias(),
                                              forward.getMask(), forward.getCausalAttr(), forward.getWindowAttr(),
                                              forward.getUnfusedAttr(), forward.getScaleAttr()));
  }
  if (forward.getMask()) {
    out.push_back({}); // truth values
  }
  return mlir::success();
}

LogicalResult AttentionGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireGradient(*this))) {
    return mlir::failure();
  }
  RankedTensorType q = withSbp(tensorOf(getQ()), {}), k = withSbp(tensorOf(getK()), {});
  results.append({q, k, k});
  return mlir::success();
}

ShardingRule AttentionGradOp::getShardingRule() {
  return ringRule(*this, headsRule(*this, gradientWords(*this) + "->bsQD,bTKD,bTKD"), {2, 3}, {1, 2},
                  {{0, 4}, {0, 1, 2}});
}

LogicalResult AttentionMergeOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType out = withSbp(tensorOf(getOut()), {}), more = withSbp(tensorOf(getMore()), {});
  if (out.getRank() != 4 || !out.getElementType().isF32()) {
    return emitOpError() << "out: expected f32, [batch, rows, heads, head size], got " << out;
  }
  if (more.getShape() != out.getShape() || !llvm::isa<mlir::FloatType>(more.getElementType())) {
    return emitOpError() << "more: expected floating-point numbers of the shape of " << out << ", got " << more;
  }
  auto lse = RankedTensorType::get({out.getDimSize(0), out.getDimSize(2), out.getDimSize(1)}, out.getElementType());
  if (failed(requireType(*this, "lse", getLse(), lse)) || failed(requireType(*this, "more_lse", getMoreLse(), lse))) {
    return mlir::failure();
  }
  results.append({out, lse});
  return mlir::success();
}

ShardingRule AttentionMergeOp::getShardingRule() {
  return ShardingRule::parse("bsnD,bns,bsnD,bns->bsnD,bns", llvm::map_to_vector(getOperands(), shapeOf),
                             llvm::map_to_vector((*this)->getResults(), [](Value r) { return shapeOf(r); }));
}

LogicalResult AttentionBiasGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireGradient(*this))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getBias()), {}));
  return mlir::success();
}

ShardingRule AttentionBiasGradOp::getShardingRule() {
  return headsRule(*this, gradientWords(*this) + "->" + wordOf(getBias())).withNeutral(0, 0);
}

std::string AttentionOp::getKernelName() { return getUnfused() ? "attention_unfused" : "attention"; }
std::string AttentionGradOp::getKernelName() { return getUnfused() ? "attention_unfused_grad" : "attention_grad"; }
std::string AttentionBiasGradOp::getKernelName() {
  return getUnfused() ? "attention_unfused_bias_grad" : "attention_bias_grad";
}

void AttentionOp::getKernelAttributes(mlir::NamedAttrList &attributes) { headsAttributes(*this, attributes); }
void AttentionGradOp::getKernelAttributes(mlir::NamedAttrList &attributes) { headsAttributes(*this, attributes); }
void AttentionBiasGradOp::getKernelAttributes(mlir::NamedAttrList &attributes) { headsAttributes(*this, attributes); }

} // namespace weft::ir
