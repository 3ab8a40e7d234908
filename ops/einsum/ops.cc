// Shape, sharding rule, gradient and cost of contractions.
#include "ops/einsum/ops.h"

#include <map>

#include "llvm/ADT/StringExtras.h"
#include "ops/dialect/assembly.h"
#include "ops/dialect/infer.h"
#include "ops/einsum/words.h"
#include "ops/elementwise/ops.h"

#define GET_OP_CLASSES
#include "ops/einsum/ops.cpp.inc"

namespace weft::ir {

namespace {

// The letters of the operands and of the result; all empty if there are not two and one.
struct Equation {
  StringRef lhs, rhs, result;
};

Equation splitEquation(StringRef text) {
  auto [lhs, rhs, result] = einsum::SplitEquation(text).value_or(einsum::Equation());
  return {lhs, rhs, result};
}

LogicalResult verifyLetters(EinsumOp op, StringRef tensor) {
  for (size_t i = 0; i < tensor.size(); ++i) {
    if (!llvm::isAlpha(tensor[i])) {
      return op.emitOpError() << "equation: expected letters, got '" << tensor.substr(i, 1) << "'";
    }
    if (tensor.find(tensor[i]) != i) {
      return op.emitOpError() << "equation: expected no letter twice in one tensor, got '" << tensor.substr(i, 1)
                              << "' twice in \"" << tensor << "\"";
    }
  }
  return mlir::success();
}

LogicalResult verifyEquation(EinsumOp op, Equation equation) {
  StringRef text = op.getEquation();
  if (!einsum::SplitEquation(text)) {
    return op.emitOpError() << "equation: expected two operands and a result as in \"ij,jk->ik\", got \"" << text
                            << "\"";
  }
  for (StringRef tensor : {equation.lhs, equation.rhs, equation.result}) {
    if (failed(verifyLetters(op, tensor))) {
      return mlir::failure();
    }
  }
  for (const char &letter : equation.result) {
    if (!equation.lhs.contains(letter) && !equation.rhs.contains(letter)) {
      return op.emitOpError() << "equation: expected every letter of the result in an operand, got '"
                              << StringRef(&letter, 1) << "' in none";
    }
  }
  for (auto [one, other] : {std::pair(equation.lhs, equation.rhs), std::pair(equation.rhs, equation.lhs)}) {
    for (const char &letter : one) {
      if (!other.contains(letter) && !equation.result.contains(letter)) {
        return op.emitOpError() << "equation: expected every letter of one operand alone in the result, got '"
                                << StringRef(&letter, 1) << "' in one operand only";
      }
    }
  }
  return mlir::success();
}

// Extents of letters, in the order in which letters appear.
using Extents = std::map<char, int64_t>;

LogicalResult bindExtents(EinsumOp op, StringRef name, StringRef letters, Value value, Extents &extents) {
  RankedTensorType type = withSbp(tensorOf(value), {});
  if (type.getRank() != int64_t(letters.size())) {
    return op.emitOpError() << name << ": expected " << letters.size() << " dimensions as in \"" << letters
                            << "\", got " << type;
  }
  for (auto [letter, extent] : llvm::zip(letters, type.getShape())) {
    auto [known, added] = extents.try_emplace(letter, extent);
    if (!added && known->second != extent) {
      return op.emitOpError() << name << ": expected " << known->second << " for '" << std::string(1, letter)
                              << "', got " << extent << " in " << type;
    }
  }
  return mlir::success();
}

} // namespace

LogicalResult EinsumOp::inferTypes(SmallVectorImpl<RankedTensorType> &results) {
  Equation equation = splitEquation(getEquation());
  Extents extents;
  if (failed(verifyEquation(*this, equation)) || failed(bindExtents(*this, "lhs", equation.lhs, getLhs(), extents)) ||
      failed(bindExtents(*this, "rhs", equation.rhs, getRhs(), extents)) || failed(requireFloat(*this, getLhs()))) {
    return mlir::failure();
  }
  mlir::Type element = tensorOf(getLhs()).getElementType();
  if (tensorOf(getRhs()).getElementType() != element) {
    return emitOpError() << "rhs: expected the element type " << element << ", got "
                         << tensorOf(getRhs()).getElementType();
  }
  if (getResultType() && !getResultType()->isF32()) {
    return emitOpError() << "result type: expected 'f32', got " << *getResultType();
  }
  llvm::SmallVector<int64_t> shape;
  for (char letter : equation.result) {
    shape.push_back(extents[letter]);
  }
  results.push_back(RankedTensorType::get(shape, getResultType().value_or(element)));
  return mlir::success();
}

ShardingRule EinsumOp::getShardingRule() {
  // Not by ShardingRule::parse: there an upper-case letter would be whole.
  ShardingRule rule;
  std::map<char, int> factors;
  auto tensor = [&](StringRef letters, Value value) {
    ShardingRule::Tensor dims;
    for (auto [letter, extent] : llvm::zip(letters, shapeOf(value))) {
      auto [factor, added] = factors.try_emplace(letter, int(rule.factors.size()));
      if (added) {
        rule.factors.push_back({extent, false});
      }
      dims.push_back({factor->second});
    }
    return dims;
  };
  Equation equation = splitEquation(getEquation());
  rule.operands = {tensor(equation.lhs, getLhs()), tensor(equation.rhs, getRhs())};
  rule.results = {tensor(equation.result, getResult())};
  rule.linear = {{0}, {1}};
  return rule;
}

Cost EinsumOp::getCost(ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost = elementwiseCost(operands, results);
  Equation equation = splitEquation(getEquation());
  Extents extents;
  for (auto [letters, type] : {std::pair(equation.lhs, operands[0]), std::pair(equation.rhs, operands[1])}) {
    for (auto [letter, extent] : llvm::zip(letters, type.getShape())) {
      extents[letter] = extent;
    }
  }
  cost.flops = 2;
  cost.product = {1, 1, 1, 1};
  for (auto [letter, extent] : extents) {
    cost.flops *= double(extent);
    bool left = equation.lhs.contains(letter), right = equation.rhs.contains(letter);
    Product &p = cost.product;
    (!equation.result.contains(letter) ? p.k : left && right ? p.batch : left ? p.m : p.n) *= extent;
  }
  cost.contraction = true;
  return cost;
}

LogicalResult EinsumOp::buildGradient(RewriterBase &b, ArrayRef<Value> g, SmallVectorImpl<Value> &out) {
  Equation equation = splitEquation(getEquation());
  mlir::Type element = tensorOf(getLhs()).getElementType();
  Value dy = g[0];
  if (tensorOf(dy).getElementType() != element) {
    dy = create<CastOp>(b, getLoc(), dy, element);
  }
  // The other operand takes the place of the result, the gradient that of the operand.
  auto contract = [&](StringRef left, StringRef right, StringRef result, Value lhs, Value rhs) {
    mlir::StringAttr text = b.getStringAttr(left + "," + right + "->" + result);
    out.push_back(create<EinsumOp>(b, getLoc(), text, lhs, rhs, mlir::TypeAttr()));
  };
  contract(equation.result, equation.rhs, equation.lhs, dy, getRhs());
  contract(equation.lhs, equation.result, equation.rhs, getLhs(), dy);
  return mlir::success();
}

} // namespace weft::ir
