#include "compiler/pipeline/target.h"

#include "compiler/job/optimizer.h"
#include "llvm/ADT/StringSet.h"
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

// What the runtime reports of every step; in a file of metrics a name stands once.
constexpr llvm::StringLiteral kReported[] = {"step",       "loss",          "grad_norm",   "lr",
                                             "loss_scale", "skipped_steps", "tokens",      "tokens_per_s",
                                             "tflops",     "mfu",           "memory_bytes"};

// What is stored at the end of a step, in a graph that has steps.
llvm::LogicalResult checkAssignments(ir::GraphOp graph, bool isTrained) {
  llvm::DenseSet<mlir::Value> assigned;
  for (ir::AssignOp assign : graph.getBody().getOps<ir::AssignOp>()) {
    llvm::StringRef name = assign.getTarget().getDefiningOp<ir::ParameterOp>().getName();
    if (!isTrained && !assign.getTarget().getDefiningOp()->hasAttr(ir::kCacheName)) {
      return assign.emitOpError() << "parameter " << name
                                  << ": expected a graph that is trained, got a function, which keeps nothing";
    }
    if (!assigned.insert(assign.getTarget()).second) {
      return assign.emitOpError() << "parameter " << name << ": expected one assignment, got another";
    }
  }
  return mlir::success();
}

// A graph is there for what it minimizes or yields; metrics are of what is trained, tensors of what is not.
llvm::LogicalResult checkPurpose(ir::GraphOp graph) {
  const bool isTrained = !graph.getBody().getOps<ir::MinimizeOp>().empty();
  auto outputs = graph.getBody().getOps<ir::OutputOp>();
  if (!isTrained && outputs.empty()) {
    return graph.emitError() << "graph @" << graph.getSymName()
                             << ": expected weft.minimize, which trains, or weft.output, which yields a tensor, got "
                                "neither";
  }
  llvm::StringSet<> seen;
  for (ir::MinimizeOp minimize : graph.getBody().getOps<ir::MinimizeOp>()) {
    mlir::StringAttr name = minimize.getNameAttr();
    if (name && llvm::is_contained(kReported, name.getValue())) {
      return minimize.emitOpError() << name << ": expected a name that every step does not report already";
    }
    if (name && !seen.insert(name.getValue()).second) {
      return minimize.emitOpError() << name << ": expected distinct names of losses, got it twice";
    }
  }
  for (ir::OutputOp output : outputs) {
    mlir::StringAttr name = output.getNameAttr();
    if (output.getMetric() != isTrained) {
      return output.emitOpError() << name << ": expected " << (isTrained ? "a metric" : "a tensor, no metric")
                                  << ", as the graph is " << (isTrained ? "trained" : "a function")
                                  << (isTrained ? ", got a tensor that nobody takes" : ", got one");
    }
    if (isTrained && llvm::is_contained(kReported, name.getValue())) {
      return output.emitOpError() << name << ": expected a name that every step does not report already";
    }
    if (!seen.insert(name.getValue()).second) {
      return output.emitOpError() << name << ": expected distinct names of outputs, got it twice";
    }
  }
  return checkAssignments(graph, isTrained);
}

} // namespace

llvm::LogicalResult checkTarget(mlir::ModuleOp module, const Job &job, const Cluster &cluster) {
  for (auto graph : module.getOps<ir::GraphOp>()) {
    for (auto minimize : graph.getBody().getOps<ir::MinimizeOp>()) {
      if (!job.has_optimizer()) {
        return minimize.emitError("optimizer: expected ") << OptimizerNames() << " in the job, got none";
      }
    }
    if (failed(checkPurpose(graph)) || failed(checkPlacements(graph, job, cluster))) {
      return mlir::failure();
    }
  }
  return mlir::success();
}

} // namespace weft::compiler
