// Shapes, sharding rules, gradient and cost of attention.
#include "ops/attention/ops.h"

#include <cmath>

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"

namespace weft::ir {
namespace {

// Types of weft.attention; `lse` is absent when types are elided.
mlir::ParseResult parseAttentionTypes(mlir::OpAsmParser &parser, mlir::Type &q, mlir::Type &k, mlir::Type &v,
                                      mlir::Type &out, mlir::Type &saved) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::SmallVector<mlir::Type, 1> rest;
  if (assembly::parseSignature<3>(parser, q, k, v, out, rest)) {
    return mlir::failure();
  }
  if (rest.size() > 1) {
    return parser.emitError(loc) << "expected 1 or 2 result types, got " << rest.size() + 1;
  }
  saved = rest.empty() ? mlir::Type() : rest.front();
  return mlir::success();
}

void printAttentionTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type q, mlir::Type k, mlir::Type v,
                         mlir::Type out, mlir::Type saved) {
  assembly::printSignature<3>(printer, q, k, v, out, saved ? mlir::TypeRange(saved) : mlir::TypeRange());
}

} // namespace
} // namespace weft::ir

#define GET_OP_CLASSES
#include "ops/attention/ops.cpp.inc"

namespace weft::ir {

namespace {

// The checks that attention and its gradient share.
LogicalResult requireHeads(mlir::Operation *op, Value qValue, Value kValue, Value vValue, bool causal) {
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
  if (causal && k.getDimSize(1) < q.getDimSize(1)) {
    return op->emitOpError() << "causal: expected at least as many keys as queries, got " << k.getDimSize(1)
                             << " keys for " << q.getDimSize(1) << " queries";
  }
  return mlir::success();
}

// The type of what the gradient needs: the log-sum-exp [b, n, s], or the weights [b, n, s, t].
RankedTensorType savedType(RankedTensorType q, RankedTensorType k, bool unfused) {
  llvm::SmallVector<int64_t> shape = {q.getDimSize(0), q.getDimSize(2), q.getDimSize(1)};
  if (unfused) {
    shape.push_back(k.getDimSize(1));
    return RankedTensorType::get(shape, q.getElementType());
  }
  return RankedTensorType::get(shape, mlir::Float32Type::get(q.getContext()));
}

// A rule's text with Q in place of the query heads and K in place of the key heads. Key head `m` and the query
// heads that read it move together; a single key head is not split, and its query heads may be.
ShardingRule headsRule(mlir::Operation *op, llvm::StringRef pattern, Value q, Value k) {
  int64_t keyHeads = shapeOf(k)[2], group = shapeOf(q)[2] / keyHeads;
  std::string text;
  for (char letter : pattern) {
    if (letter == 'Q') {
      text += keyHeads == 1 ? "g" : "(mg)";
    } else if (letter == 'K') {
      text += keyHeads == 1 ? "1" : "m";
    } else {
      text += letter;
    }
  }
  SmallVector<ArrayRef<int64_t>> operands = llvm::map_to_vector(op->getOperands(), shapeOf);
  SmallVector<ArrayRef<int64_t>> results = llvm::map_to_vector(op->getResults(), [](Value r) { return shapeOf(r); });
  return ShardingRule::parse(text, operands, results, {{'g', group}});
}

// `products` matrix products of s x t x d a head, half of them needless under a causal mask.
Cost headsCost(int products, bool causal, RankedTensorType q, RankedTensorType k, ArrayRef<RankedTensorType> operands,
               ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  double pairs = double(q.getDimSize(1)) * double(k.getDimSize(1)) * (causal ? 0.5 : 1.0);
  cost.flops = 2.0 * products * double(q.getDimSize(0)) * double(q.getDimSize(2)) * double(q.getDimSize(3)) * pairs;
  cost.contraction = true;
  return cost;
}

// The same where the scores are stored: all pairs are computed, and scores or weights go through memory `passes` times,
// of which those that are a result or an operand are counted already.
Cost unfusedCost(int products, int passes, RankedTensorType q, RankedTensorType k, ArrayRef<RankedTensorType> operands,
                 ArrayRef<RankedTensorType> results) {
  Cost cost = headsCost(products, /*causal=*/false, q, k, operands, results);
  for (auto types : {operands, results}) {
    passes -= int(llvm::count(types, savedType(q, k, /*unfused=*/true)));
  }
  cost.bytes += double(passes) * double(bytesOf(savedType(q, k, /*unfused=*/true)));
  return cost;
}

// `causal` as 0 or 1, and `scale` always given. The kernel's name says whether it is unfused.
void headsAttributes(mlir::Operation *op, bool causal, mlir::Attribute scale, int64_t headSize,
                     mlir::NamedAttrList &attributes) {
  mlir::Builder builder(op->getContext());
  attributes = inherentAttributes(op);
  attributes.erase("unfused");
  attributes.set("causal", builder.getI64IntegerAttr(causal ? 1 : 0));
  attributes.set("scale", scale ? scale : builder.getF64FloatAttr(1.0 / std::sqrt(double(headSize))));
}

} // namespace

LogicalResult AttentionOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireHeads(*this, getQ(), getK(), getV(), getCausal()))) {
    return mlir::failure();
  }
  results.push_back(withSbp(tensorOf(getQ()), {}));
  if (getSaved()) {
    results.push_back(savedType(tensorOf(getQ()), tensorOf(getK()), getUnfused()));
  }
  return mlir::success();
}

ShardingRule AttentionOp::getShardingRule() {
  llvm::StringRef pattern = !getSaved()    ? "bsQD,bTKD,bTKD->bsQD"
                            : getUnfused() ? "bsQD,bTKD,bTKD->bsQD,bQsT"
                                           : "bsQD,bTKD,bTKD->bsQD,bQs";
  return headsRule(*this, pattern, getQ(), getK());
}

LogicalResult AttentionOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  AttentionOp forward = *this;
  if (!getSaved()) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(*this);
    forward =
        create<AttentionOp, 2>(b, getLoc(), getQ(), getK(), getV(), getCausalAttr(), getUnfusedAttr(), getScaleAttr());
    forward->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
    b.replaceOp(*this, forward.getOut());
  }
  auto gradient = create<AttentionGradOp, 3>(b, forward.getLoc(), g[0], forward.getQ(), forward.getK(), forward.getV(),
                                             forward.getOut(), forward.getSaved(), forward.getCausalAttr(),
                                             forward.getUnfusedAttr(), forward.getScaleAttr());
  out.append(gradient->result_begin(), gradient->result_end());
  return mlir::success();
}

Cost AttentionOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  if (getUnfused()) {
    // The first product writes scores, the softmax reads them and writes weights, the second product reads those.
    return unfusedCost(/*products=*/2, /*passes=*/4, operands[0], operands[1], operands, results);
  }
  return headsCost(/*products=*/2, getCausal(), operands[0], operands[1], operands, results);
}

std::string AttentionOp::getKernelName() { return getUnfused() ? "attention_unfused" : "attention"; }

void AttentionOp::getKernelAttributes(mlir::NamedAttrList &attributes) {
  headsAttributes(*this, getCausal(), getScaleAttr(), shapeOf(getQ())[3], attributes);
}

LogicalResult AttentionGradOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  if (failed(requireHeads(*this, getQ(), getK(), getV(), getCausal()))) {
    return mlir::failure();
  }
  RankedTensorType q = withSbp(tensorOf(getQ()), {}), k = withSbp(tensorOf(getK()), {});
  for (auto [name, value, expected] :
       {std::tuple("dout", getDout(), q), std::tuple("out", getOut(), q),
        std::tuple(getUnfused() ? "weights" : "lse", getSaved(), savedType(q, k, getUnfused()))}) {
    if (failed(requireType(*this, name, value, expected))) {
      return mlir::failure();
    }
  }
  results.append({q, k, k});
  return mlir::success();
}

ShardingRule AttentionGradOp::getShardingRule() {
  return headsRule(*this,
                   getUnfused() ? "bsQD,bsQD,bTKD,bTKD,bsQD,bQsT->bsQD,bTKD,bTKD"
                                : "bsQD,bsQD,bTKD,bTKD,bsQD,bQs->bsQD,bTKD,bTKD",
                   getQ(), getK());
}

// Scores again, and a product each for the gradients of weights, q, k and v. Unfused, the weights are there: the
// products of dv and of their own gradient read and write them, the softmax's gradient reads both and writes that of
// the scores, which the products of dq and dk read.
Cost AttentionGradOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  if (getUnfused()) {
    return unfusedCost(/*products=*/4, /*passes=*/7, operands[1], operands[2], operands, results);
  }
  return headsCost(/*products=*/5, getCausal(), operands[1], operands[2], operands, results);
}

std::string AttentionGradOp::getKernelName() { return getUnfused() ? "attention_unfused_grad" : "attention_grad"; }

void AttentionGradOp::getKernelAttributes(mlir::NamedAttrList &attributes) {
  headsAttributes(*this, getCausal(), getScaleAttr(), shapeOf(getQ())[3], attributes);
}

} // namespace weft::ir
