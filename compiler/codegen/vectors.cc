#include "compiler/codegen/vectors.h"

#include <limits>

namespace weft::compiler {

using namespace mlir;

void Vectors::emitRowValues() {
  Block &block = kernel_.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    if (work_.isOfRow(argument) && !values_.contains(argument)) {
      values_[argument] =
          b.create<LLVM::LoadOp>(loc, storedType(argument.getType()), rowAddressOf(argument.getArgNumber()));
    }
  }
  for (Operation &op : block.without_terminator()) {
    bool known = op.getNumResults() == 1 && work_.isOfRow(op.getResult(0)) && !llvm::isa<cell::ReduceOp>(op) &&
                 !values_.contains(op.getResult(0)) &&
                 llvm::all_of(op.getOperands(), [&](Value operand) { return values_.contains(operand); });
    if (known) {
      SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value v) { return values_[v]; });
      values_[op.getResult(0)] = computed(&op, operands, false);
    }
  }
}

SmallVector<Value> Vectors::reducedWith(ArrayRef<cell::ReduceOp> reduces, ValueRange before, Value active) {
  SmallVector<Value> next;
  for (auto [one, sum] : llvm::zip(reduces, before)) {
    cell::ReduceOp reduce = one;
    Value term = valueOf(reduce.getValue());
    if (active) {
      term = b.create<arith::SelectOp>(loc, active, term, splat(b.getF32FloatAttr(neutralOf(reduce))));
    }
    next.push_back(combined(reduce, sum, term));
  }
  return next;
}

Value Vectors::computed(Operation *op, ArrayRef<Value> operands, bool vector) {
  auto typeOf = [&](Type element) -> Type { return vector ? Type(vectorOf(element)) : element; };
  auto isBrain = [](Type type) { return type.isBF16(); };
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
    return vector ? splat(llvm::cast<TypedAttr>(constant.getValue()))
                  : Value(b.create<arith::ConstantOp>(loc, llvm::cast<TypedAttr>(constant.getValue())));
  }
  if (llvm::isa<arith::ExtFOp>(op) && isBrain(op->getOperand(0).getType())) {
    return widened(operands[0], typeOf(b.getI32Type()), typeOf(b.getF32Type()));
  }
  if (llvm::isa<arith::TruncFOp>(op) && isBrain(op->getResult(0).getType())) {
    return narrowed(operands[0], typeOf(b.getI32Type()), typeOf(b.getI16Type()));
  }
  OperationState state(loc, op->getName(), operands, {typeOf(op->getResult(0).getType())}, op->getAttrs());
  return b.create(state)->getResult(0);
}

Value Vectors::combined(cell::ReduceOp reduce, Value a, Value term) {
  if (reduce.getKind() == "sum") {
    return b.create<arith::AddFOp>(loc, a, term);
  }
  return b.create<arith::SelectOp>(loc, b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, term, a), term, a);
}

float Vectors::neutralOf(cell::ReduceOp reduce) {
  return reduce.getKind() == "sum" ? 0.0f : -std::numeric_limits<float>::infinity();
}

Value Vectors::widened(Value bits, Type integers, Type floats) {
  Value wide = b.create<arith::ExtUIOp>(loc, integers, bits);
  return b.create<arith::BitcastOp>(loc, floats, b.create<arith::ShLIOp>(loc, wide, whole(integers, 16)));
}

Value Vectors::whole(Type integers, int64_t number) {
  TypedAttr one = b.getI32IntegerAttr(int32_t(number));
  return llvm::isa<VectorType>(integers) ? splat(one) : Value(b.create<arith::ConstantOp>(loc, one));
}

Value Vectors::splat(TypedAttr number) {
  return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(vectorOf(number.getType()), Attribute(number)));
}

Type Vectors::elementOf(unsigned operand) {
  return operand < kernel_.getNumInputs() ? kernel_.getBody().getArgument(operand).getType()
                                          : kernel_.getYielded()[operand - kernel_.getNumInputs()].getType();
}

Value Vectors::at(Value base, unsigned operand, Value offset) {
  return b.create<LLVM::GEPOp>(loc, base.getType(), storedType(elementOf(operand)), base, ValueRange{offset});
}

} // namespace weft::compiler
