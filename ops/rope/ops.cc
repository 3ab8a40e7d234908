// Shapes, sharding rule, gradient and kernel attributes of rotary position embeddings.
#include "ops/rope/ops.h"

#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/rope/limits.h"

namespace weft::ir {
namespace {

using MaybeOperand = std::optional<mlir::OpAsmParser::UnresolvedOperand>;

// Types of weft.rope; those of the positions are there where the positions are.
mlir::ParseResult parseRopeTypes(mlir::OpAsmParser &parser, const MaybeOperand &operand, mlir::Type &x,
                                 mlir::Type &positions, mlir::Type &result) {
  return operand ? assembly::parseSignature<2>(parser, x, positions, result)
                 : assembly::parseSignature<1>(parser, x, result);
}

void printRopeTypes(mlir::OpAsmPrinter &printer, mlir::Operation *, Value operand, mlir::Type x, mlir::Type positions,
                    mlir::Type result) {
  if (operand) {
    assembly::printSignature<2>(printer, x, positions, result);
  } else {
    assembly::printSignature<1>(printer, x, result);
  }
}

} // namespace
} // namespace weft::ir

#define GET_OP_CLASSES
#include "ops/rope/ops.cpp.inc"

namespace weft::ir {
namespace {

LogicalResult requirePositive(RopeOp op, llvm::StringRef name, mlir::Attribute number) {
  if (number && !(floatOf(number) > 0)) {
    return op.emitOpError() << name << ": expected a positive number, got " << floatOf(number);
  }
  return mlir::success();
}

LogicalResult requireBands(RopeOp op) {
  mlir::Attribute low = op.getLowAttr(), high = op.getHighAttr(), original = op.getOriginalAttr();
  if (!low && !high && !original) {
    return mlir::success();
  }
  if (!low || !high || !original || !op.getFactorAttr()) {
    return op.emitOpError() << "expected factor, low, high and original together, or factor alone";
  }
  if (failed(requirePositive(op, "low", low)) || failed(requirePositive(op, "original", original))) {
    return mlir::failure();
  }
  if (!(floatOf(high) > floatOf(low))) {
    return op.emitOpError() << "high: expected a number above low (" << floatOf(low) << "), got " << floatOf(high);
  }
  return mlir::success();
}

LogicalResult requirePositions(RopeOp op, ArrayRef<int64_t> x) {
  Value positions = op.getPositions();
  if (!positions) {
    return mlir::success();
  }
  auto i32 = mlir::IntegerType::get(op.getContext(), 32);
  return requireType(op, "positions", positions, RankedTensorType::get(x.take_front(2), i32));
}

} // namespace

LogicalResult RopeOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  RankedTensorType x = withSbp(tensorOf(getX()), {});
  if (x.getRank() != 4) {
    return emitOpError() << "expected [batch, sequence, heads, head size], got " << x;
  }
  int64_t size = x.getDimSize(3);
  if (size % 2 != 0 || size > 2 * rope::kMaxPairs) {
    return emitOpError() << "expected an even head size of at most " << 2 * rope::kMaxPairs << ", got " << size;
  }
  return mlir::failure(failed(requirePositions(*this, x.getShape())) ||
                       failed(requirePositive(*this, "theta", getThetaAttr())) ||
                       failed(requirePositive(*this, "factor", getFactorAttr())) || failed(requireBands(*this)) ||
                       failed(inferLikeOperand(*this, results)));
}

// A rotation is linear in what it turns.
ShardingRule RopeOp::getShardingRule() {
  return ruleOf(*this, getPositions() ? "bsnD,bs->bsnD" : "bsnD->bsnD").withLinear({{0}});
}

// A rotation's transpose is its inverse.
LogicalResult RopeOp::buildGradient(mlir::RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  auto gradient = llvm::cast<RopeOp>(b.clone(*getOperation()));
  gradient.getXMutable().assign(g[0]);
  gradient.setInverse(!getInverse());
  gradient.getResult().setType(llvm::cast<RankedTensorType>(g[0].getType()));
  out.push_back(gradient);
  if (getPositions()) {
    out.push_back({}); // integers
  }
  return mlir::success();
}

void RopeOp::getKernelAttributes(mlir::NamedAttrList &attributes) {
  mlir::Builder b(getContext());
  for (auto [name, number] :
       {std::pair("theta", getThetaAttr()), std::pair("factor", getFactorAttr()), std::pair("low", getLowAttr()),
        std::pair("high", getHighAttr()), std::pair("original", getOriginalAttr())}) {
    if (number) {
      attributes.set(name, b.getF64FloatAttr(floatOf(number)));
    }
  }
  attributes.set("interleaved", b.getI64IntegerAttr(getInterleaved()));
  attributes.set("inverse", b.getI64IntegerAttr(getInverse()));
}

} // namespace weft::ir
