#include "compiler/codegen/passes.h"

namespace weft::compiler {

using namespace mlir;

Passes::Passes(cell::KernelOp kernel, const Loops &loops) : kernel_(kernel), loops_(loops) {
  Block &block = kernel_.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    facts_[argument] = {isOfRow(argument.getArgNumber()), 0};
  }
  for (Operation &op : block.without_terminator()) {
    Fact fact{!llvm::isa<cell::RandomOp, cell::SumRowsOp>(op), 0};
    for (Value operand : op.getOperands()) {
      fact.ofRow &= facts_[operand].ofRow;
      fact.depth = std::max(fact.depth, facts_[operand].depth);
    }
    if (llvm::isa<cell::ReduceOp>(op)) {
      fact = {true, fact.depth + 1};
      count_ = std::max(count_, fact.depth);
    }
    for (Value result : op.getResults()) {
      facts_[result] = fact;
    }
  }
}

SmallVector<Value> Passes::rootsOf(int pass) const {
  SmallVector<Value> roots;
  if (pass == count_) {
    for (auto [index, value] : llvm::enumerate(kernel_.getYielded())) {
      if (cell::SumRowsOp sum = cell::sumRowsOf(value)) {
        roots.push_back(sum.getValue());
      } else if (!isOfRow(kernel_.getNumInputs() + unsigned(index))) {
        roots.push_back(value);
      }
    }
    return roots;
  }
  for (cell::ReduceOp reduce : reducesOf(pass)) {
    roots.push_back(reduce.getValue());
  }
  return roots;
}

SmallVector<cell::ReduceOp> Passes::reducesOf(int pass) const {
  SmallVector<cell::ReduceOp> reduces;
  for (auto reduce : kernel_.getBody().getOps<cell::ReduceOp>()) {
    if (facts_.lookup(reduce.getResult()).depth == pass + 1) {
      reduces.push_back(reduce);
    }
  }
  return reduces;
}

llvm::SetVector<Operation *> Passes::neededIn(int pass) const {
  llvm::SetVector<Operation *> needed;
  for (Value root : rootsOf(pass)) {
    addNeeded(root, needed);
  }
  return needed;
}

void Passes::addNeeded(Value value, llvm::SetVector<Operation *> &needed) const {
  Operation *op = value.getDefiningOp();
  if (op && !isOfRow(value) && needed.insert(op)) {
    for (Value operand : op->getOperands()) {
      addNeeded(operand, needed);
    }
  }
}

} // namespace weft::compiler
