#include "compiler/analysis/section.h"

namespace weft::compiler {

namespace {

// Whether an op makes something of nothing that is worth keeping for a step: one number is not.
bool isKeptConstant(mlir::Operation &op) {
  auto weftOp = llvm::dyn_cast<ir::WeftOpInterface>(op);
  return weftOp && weftOp.isConstant() && ir::tensorOf(op.getResult(0)).getNumElements() > 1;
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
  for (mlir::Operation &op : graph.getBody().front()) {
    auto isKept = [&](mlir::Value operand) {
      mlir::Operation *producer = operand.getDefiningOp();
      return producer && (llvm::isa<ir::ParameterOp>(producer) || begin_.contains(producer));
    };
    bool made = op.getNumOperands() > 0 ? llvm::all_of(op.getOperands(), isKept) : isKeptConstant(op);
    if (micro_.contains(&op) && made && !op.hasAttr("on_use") && !llvm::isa<ir::AccumulateOp>(op)) {
      begin_.insert(&op);
    }
  }
}

} // namespace weft::compiler
