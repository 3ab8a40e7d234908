// --weft-elaborate-infer: infers shapes and element types, op by op.
#include "ops/dialect/infer.h"
#include "compiler/analysis/machine.h"
#include "compiler/analysis/meshes.h"
#include "compiler/passes/elaborate/passes.h"

namespace weft::compiler {

#define GEN_PASS_DEF_ELABORATEINFER
#include "compiler/passes/elaborate/Passes.h.inc"

namespace {

LogicalResult inferInputs(model::GraphOp graph) {
  auto inputs = llvm::zip(graph.getInputs(), graph.getShapes(), graph.getTypes(), graph.getBody().getArguments());
  for (auto [name, shape, element, argument] : inputs) {
    std::string what = "input \"" + llvm::cast<mlir::StringAttr>(name).getValue().str() + "\"";
    SmallVector<int64_t> extents = ir::intsOf(llvm::cast<mlir::ArrayAttr>(shape));
    auto error = [loc = argument.getLoc()] { return mlir::emitError(loc); };
    if (failed(ir::countElements(error, what, extents))) {
      return failure();
    }
    mlir::Type type = llvm::cast<mlir::TypeAttr>(element).getValue();
    if (!type.isIntOrFloat()) {
      return error() << what << ": expected an integer or floating-point element type, got " << type;
    }
    argument.setType(RankedTensorType::get(extents, type));
  }
  return success();
}

LogicalResult inferOp(mlir::Operation *op) {
  SmallVector<RankedTensorType> types;
  auto interface = llvm::dyn_cast<ir::WeftOpInterface>(op);
  if (interface && failed(interface.inferTypes(types))) {
    return failure();
  }
  if (types.size() != op->getNumResults()) {
    return op->emitOpError() << "expected " << types.size() << " results, got " << op->getNumResults();
  }
  for (auto [result, type] : llvm::zip(op->getResults(), types)) {
    if (failed(ir::countElements(op, "result", type.getShape()))) {
      return failure();
    }
    result.setType(type);
  }
  return success();
}

// Replaces an op that changes nothing, such as a dropout of rate 0, by its operand.
void dropIdentity(mlir::Operation *op) {
  SmallVector<mlir::OpFoldResult> folded;
  if (op->getNumResults() == 0 || failed(op->fold(folded)) || folded.size() != op->getNumResults() ||
      !llvm::all_of(folded, [](mlir::OpFoldResult result) { return llvm::isa<mlir::Value>(result); })) {
    return;
  }
  for (auto [result, value] : llvm::zip(op->getResults(), folded)) {
    result.replaceAllUsesWith(llvm::cast<mlir::Value>(value));
  }
  op->erase();
}

struct ElaborateInfer : impl::ElaborateInferBase<ElaborateInfer> {
  using ElaborateInferBase::ElaborateInferBase;

  void runOnOperation() override {
    for (model::GraphOp graph : llvm::make_early_inc_range(getOperation().getOps<model::GraphOp>())) {
      if (failed(infer(graph))) {
        return signalPassFailure();
      }
    }
    getOperation()->removeAttr(kMeshesName);
    getOperation()->removeAttr(kMachineName);
  }

  LogicalResult infer(model::GraphOp graph) {
    llvm::FailureOr<SmallVector<ir::PlacementAttr>> meshes = meshesOf(getOperation());
    if (failed(meshes) || failed(inferInputs(graph))) {
      return failure();
    }
    for (mlir::Operation &op : llvm::make_early_inc_range(graph.getBody().front())) {
      if (failed(inferOp(&op))) {
        return failure();
      }
      dropIdentity(&op);
    }
    mlir::OpBuilder builder(graph);
    if (meshes->empty()) {
      meshes->push_back(ir::PlacementAttr::get(&getContext(), builder.getStringAttr("cpu"), {}, {}, {0}));
    }
    // A function runs once a step.
    bool isTrained = !graph.getBody().getOps<ir::MinimizeOp>().empty();
    auto result =
        builder.create<ir::GraphOp>(graph.getLoc(), graph.getSymName(), graph.getInputs(),
                                    builder.getArrayAttr(meshes->size() == 1 ? (*meshes)[0] : unionOf(*meshes)),
                                    uint64_t(isTrained ? microBatches : 1), mlir::DenseI64ArrayAttr());
    if (meshes->size() > 1) {
      result->setAttr(kMeshesName, getOperation()->getAttr(kMeshesName));
    }
    if (mlir::Attribute machine = getOperation()->getAttr(kMachineName)) {
      result->setAttr(kMachineName, machine);
    }
    result.getBody().takeBody(graph.getBody());
    graph.erase();
    return success();
  }
};

} // namespace
} // namespace weft::compiler
