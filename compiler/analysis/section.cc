#include "compiler/analysis/section.h"

namespace weft::compiler {

namespace {

bool isOneNumber(mlir::Operation &op) {
  return llvm::all_of(op.getResults(), [](mlir::Value v) { return ir::tensorOf(v).getNumElements() == 1; });
}

bool isConstant(mlir::Operation &op) {
  auto weftOp = llvm::dyn_cast<ir::WeftOpInterface>(op);
  return weftOp && weftOp.isConstant();
}

} // namespace

Sections::Sections(ir::GraphOp graph) {
  llvm::SmallVector<mlir::Operation *> work;
  for (auto op : graph.getBody().getOps<ir::AccumulateOp>()) {
    accumulates_ = true;
    work.push_back(op);
  }
  while (!work.empty()) {
    mlir::Operation *op = work.pop_back_val();
    if (!micro_.insert(op).second) {
      continue;
    }
    for (mlir::Value operand : op->getOperands()) {
      if (mlir::Operation *producer = operand.getDefiningOp()) {
        work.push_back(producer);
      }
    }
  }
  // One number that is made of constants is not worth keeping by itself; it is made where what is made of it is.
  llvm::DenseSet<mlir::Operation *> numbers;
  for (mlir::Operation &op : graph.getBody().front()) {
    auto weftOp = llvm::dyn_cast<ir::WeftOpInterface>(op);
    if (!micro_.contains(&op) || op.hasAttr("on_use") || llvm::isa<ir::AccumulateOp>(op) ||
        (weftOp && weftOp.variesByMicroBatch())) {
      continue;
    }
    auto isKept = [&](mlir::Value operand) {
      mlir::Operation *producer = operand.getDefiningOp();
      return producer && (llvm::isa<ir::ParameterOp>(producer) || begin_.contains(producer));
    };
    auto isNumber = [&](mlir::Value operand) { return numbers.contains(operand.getDefiningOp()); };
    bool constant = op.getNumOperands() == 0 && isConstant(op);
    if (isOneNumber(op) && (constant || (op.getNumOperands() > 0 && llvm::all_of(op.getOperands(), isNumber)))) {
      numbers.insert(&op);
    } else if (constant || (llvm::any_of(op.getOperands(), isKept) &&
                            llvm::all_of(op.getOperands(), [&](mlir::Value v) { return isKept(v) || isNumber(v); }))) {
      begin_.insert(&op);
    }
  }
  for (mlir::Operation &op : llvm::reverse(graph.getBody().front())) {
    if (numbers.contains(&op) && llvm::any_of(op.getUsers(), [&](mlir::Operation *user) { return isBegin(user); })) {
      begin_.insert(&op);
    }
  }
}

} // namespace weft::compiler
