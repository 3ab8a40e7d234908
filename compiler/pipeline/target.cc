#include "compiler/pipeline/target.h"

#include "compiler/job/optimizer.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {
namespace {

// The op that brought a placement in; the graph, if the job did. Raw meshes name their axes `_0`, `_1`, ...
mlir::Operation *ownerOf(ir::GraphOp graph, int64_t stage) {
  llvm::ArrayRef<mlir::StringAttr> axes = graph.getPlacement(stage).getAxes();
  if (axes.empty() || !axes[0].getValue().starts_with("_")) {
    return graph;
  }
  for (auto op : graph.getBody().getOps<ir::ToGlobalOp>()) {
    if (ir::stageOf(op.getOperation()) == stage) {
      return op;
    }
  }
  return graph;
}

llvm::LogicalResult checkPlacements(ir::GraphOp graph, const Job &job, const Cluster &cluster) {
  int64_t ranks = cluster.node().count() * cluster.node().ranks();
  for (int64_t stage = 0, size = int64_t(graph.getPlacements().size()); stage < size; ++stage) {
    ir::PlacementAttr placement = graph.getPlacement(stage);
    if (placement.getDevice() != cluster.device().kind()) {
      return ownerOf(graph, stage)->emitError() << "placement: expected device " << cluster.device().kind() << ", got "
                                                << placement.getDevice().getValue();
    }
    for (int64_t rank : placement.getRanks()) {
      if (rank >= ranks) {
        return ownerOf(graph, stage)->emitError()
               << "placement: expected ranks 0 to " << ranks - 1 << " of "
               << (job.cluster().empty() ? "the local machine" : job.cluster()) << ", got " << rank;
      }
    }
  }
  return mlir::success();
}

} // namespace

llvm::LogicalResult checkTarget(mlir::ModuleOp module, const Job &job, const Cluster &cluster) {
  for (auto graph : module.getOps<ir::GraphOp>()) {
    for (auto minimize : graph.getBody().getOps<ir::MinimizeOp>()) {
      if (!job.has_optimizer()) {
        return minimize.emitError("optimizer: expected ") << OptimizerNames() << " in the job, got none";
      }
    }
    if (failed(checkPlacements(graph, job, cluster))) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

} // namespace weft::compiler
