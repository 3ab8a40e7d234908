#include "compiler/analysis/cost.h"

#include "compiler/analysis/section.h"

namespace weft::compiler {

using namespace weft::ir;

RankedTensorType tileOf(Value value, PlacementAttr placement) {
  RankedTensorType type = tensorOf(value);
  SbpAttr sbp = sbpOf(type);
  return RankedTensorType::get(sbp ? localShape(type.getShape(), sbp.getStates(), placement.getSizes())
                                   : SmallVector<int64_t>(type.getShape()),
                               type.getElementType());
}

double modelFlops(GraphOp graph) {
  Sections sections(graph);
  double flops = 0;
  graph.getBody().walk([&](WeftOpInterface op) {
    if (phaseOf(op) == OpPhase::Recompute) {
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

plan::KernelWork localWork(WeftOpInterface op, PlacementAttr placement) {
  auto tile = [&](Value value) { return tileOf(value, placement); };
  return workOf(op.getCost(llvm::map_to_vector(op->getOperands(), tile), llvm::map_to_vector(op->getResults(), tile)));
}

plan::KernelWork localWork(BoxOp box, PlacementAttr placement) {
  return {0, 0, 2 * double(bytesOf(tileOf(box.getResult(), placement)))};
}

} // namespace weft::compiler
