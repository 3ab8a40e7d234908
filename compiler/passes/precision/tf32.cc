// Contractions that may round their float32 operands.
#include "compiler/passes/precision/passes.h"
#include "runtime/plan/devices.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PRECISIONTF32
#include "compiler/passes/precision/Passes.h.inc"
namespace {

using namespace weft::ir;

struct PrecisionTf32 : impl::PrecisionTf32Base<PrecisionTf32> {
  void runOnOperation() override {
    const plan::DeviceKind *kind = plan::FindDeviceKind(getOperation().getPlacement(0).getDevice().getValue());
    if (!kind || !kind->tf32) {
      return;
    }
    for (mlir::Operation &op : getOperation().getBody().front()) {
      auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
      if (!weftOp || op.getNumOperands() == 0 || !tensorOf(op.getOperand(0)).getElementType().isF32()) {
        continue;
      }
      auto types = [](auto values) { return llvm::map_to_vector(values, [](mlir::Value v) { return tensorOf(v); }); };
      if (weftOp.getCost(types(op.getOperands()), types(op.getResults())).contraction) {
        op.setAttr("tf32", mlir::UnitAttr::get(&getContext()));
      }
    }
  }
};

} // namespace
} // namespace weft::compiler
