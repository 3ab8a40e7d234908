#include "compiler/analysis/predict.h"

#include "compiler/analysis/boxing.h"
#include "compiler/analysis/section.h"

namespace weft::compiler {

using namespace weft::ir;
using llvm::SmallVector;
using mlir::RankedTensorType;
using mlir::Value;

namespace {

// One box, which changes axes as one primitive does.
void addBox(BoxOp box, PlacementAttr placement, double weight, const Machine &machine, StepPrediction &sum) {
  SbpAttr from = sbpOf(box.getInput().getType()), to = sbpOf(box.getType());
  if (from.getStates().size() != to.getStates().size()) {
    return; // between placements: a transfer, which overlaps
  }
  double bytes = double(bytesOf(tileOf(box.getInput(), placement)));
  for (const BoxStep &step :
       findRoute(from.getStates(), to.getStates(), tensorOf(box.getInput()).getShape(),
                 (tensorOf(box.getInput()).getElementTypeBitWidth() + 7) / 8, placement.getSizes(), machine)) {
    int64_t n = 1;
    for (int axis : step.axes) {
      n *= placement.getSizes()[axis];
    }
    bool gathers = step.kind == BoxStep::AllGather || step.kind == BoxStep::AllToAll || step.kind == BoxStep::Pad;
    double whole = gathers ? bytes * double(n) : bytes;
    double seconds = stepSeconds(step.kind, whole, n, machine) * weight;
    if (step.kind > BoxStep::AllToAll) {
      sum.computeSeconds += seconds;
      continue;
    }
    sum.communicationSeconds += seconds;
    sum.communicationBytes += (seconds - machine.latency * weight) * machine.linkBytes;
  }
}

} // namespace

RankedTensorType tileOf(Value value, PlacementAttr placement) {
  RankedTensorType type = tensorOf(value);
  SbpAttr sbp = sbpOf(type);
  return RankedTensorType::get(sbp ? localShape(type.getShape(), sbp.getStates(), placement.getSizes())
                                   : SmallVector<int64_t>(type.getShape()),
                               type.getElementType());
}

Cost tileCost(WeftOpInterface op, PlacementAttr placement) {
  auto tiles = [&](mlir::ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return tileOf(value, placement); });
  };
  return op.getCost(tiles(op->getOperands()), tiles(op->getResults()));
}

double modelFlops(GraphOp graph) {
  Sections sections(graph);
  double flops = 0;
  graph.getBody().walk([&](WeftOpInterface op) {
    if (auto phase = op->getAttrOfType<mlir::StringAttr>("phase"); phase && phase.getValue() == "recompute") {
      return;
    }
    SmallVector<RankedTensorType> operands = llvm::map_to_vector(op->getOperands(), tensorOf);
    SmallVector<RankedTensorType> results = llvm::map_to_vector(op->getResults(), tensorOf);
    Cost cost = op.getCost(operands, results);
    if (cost.contraction) {
      flops += cost.flops * sections.runs(op, double(graph.getMicroBatches()));
    }
  });
  return flops;
}

StepPrediction predictStep(GraphOp graph, const Machine &machine) {
  Sections sections(graph);
  StepPrediction sum;
  for (mlir::Operation &op : graph.getBody().front()) {
    PlacementAttr placement = graph.getPlacement(stageOf(&op));
    double weight = sections.runs(&op, double(graph.getMicroBatches()));
    if (auto box = llvm::dyn_cast<BoxOp>(op)) {
      addBox(box, placement, weight, machine, sum);
    } else if (auto weftOp = llvm::dyn_cast<WeftOpInterface>(op); weftOp && !llvm::isa<ParameterOp, AssignOp>(op)) {
      sum.computeSeconds += machine.seconds(tileCost(weftOp, placement)) * weight;
    }
  }
  return sum;
}

} // namespace weft::compiler
