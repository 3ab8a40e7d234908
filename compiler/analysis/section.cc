#include "compiler/analysis/section.h"

namespace weft::compiler {

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
    auto ofParameters = [&](mlir::Value operand) {
      mlir::Operation *producer = operand.getDefiningOp();
      return producer && (llvm::isa<ir::ParameterOp>(producer) || begin_.contains(producer));
    };
    if (micro_.contains(&op) && op.getNumOperands() > 0 && !op.hasAttr("on_use") && !llvm::isa<ir::AccumulateOp>(op) &&
        llvm::all_of(op.getOperands(), ofParameters)) {
      begin_.insert(&op);
    }
  }
}

} // namespace weft::compiler
