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

static RankedTensorType unpaddedTypeOf(Value value) {
  return RankedTensorType::get(unpaddedShapeOf(value), tensorOf(value).getElementType());
}

double modelFlops(GraphOp graph) {
  Sections sections(graph);
  double flops = 0;
  graph.getBody().walk([&](WeftOpInterface op) {
    if (phaseOf(op) == OpPhase::Recompute) {
      return;
    }
    SmallVector<RankedTensorType> operands = llvm::map_to_vector(op->getOperands(), unpaddedTypeOf);
    SmallVector<RankedTensorType> results = llvm::map_to_vector(op->getResults(), unpaddedTypeOf);
    Cost cost = op.getCost(operands, results);
    if (cost.contraction) {
      flops += cost.flops * sections.runs(op, double(graph.getMicroBatches()));
    }
  });
  return flops;
}

// Of the operands of a product: "bf16", and "tf32" for f32 that may be rounded to it.
static std::string productType(WeftOpInterface op, RankedTensorType operand) {
  return op->hasAttr("tf32") ? "tf32" : elementNameOf(operand.getElementType());
}

std::string elementNameOf(mlir::Type element) {
  if (element.isF32() || element.isF16()) {
    return element.isF32() ? "f32" : "f16";
  }
  if (element.isBF16()) {
    return "bf16";
  }
  if (element.isSignlessInteger()) {
    return "i" + std::to_string(element.getIntOrFloatBitWidth());
  }
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

std::string narrowestOf(ArrayRef<RankedTensorType> tensors) {
  mlir::FloatType narrowest;
  for (RankedTensorType tensor : tensors) {
    auto element = llvm::dyn_cast<mlir::FloatType>(tensor.getElementType());
    narrowest = element && (!narrowest || element.getWidth() < narrowest.getWidth()) ? element : narrowest;
  }
  return narrowest ? elementNameOf(narrowest) : "";
}

plan::KernelWork workOf(WeftOpInterface op, ArrayRef<RankedTensorType> operands, ArrayRef<RankedTensorType> results) {
  Cost cost = op.getCost(operands, results);
  plan::KernelWork work = {cost.contraction ? cost.flops : 0, cost.contraction ? 0 : cost.flops, cost.bytes};
  work.family = op.getKernelName();
  SmallVector<RankedTensorType> tensors(operands);
  llvm::append_range(tensors, results);
  work.type = narrowestOf(tensors);
  if (cost.product.m > 0) {
    const Product &p = cost.product;
    work.product = {p.batch, p.m, p.n, p.k, productType(op, operands[0]), p.within};
  }
  return work;
}

plan::KernelWork localWork(WeftOpInterface op, PlacementAttr placement) {
  auto tile = [&](Value value) { return tileOf(value, placement); };
  return workOf(op, llvm::map_to_vector(op->getOperands(), tile), llvm::map_to_vector(op->getResults(), tile));
}

plan::KernelWork localWork(BoxOp box, PlacementAttr placement) {
  return {0, 0, 2 * double(bytesOf(tileOf(box.getResult(), placement)))};
}

} // namespace weft::compiler
