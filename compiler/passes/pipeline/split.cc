// --weft-pipeline-split: which part of the backward only gradients of parameters need.
#include "compiler/passes/pipeline/passes.h"
#include "ops/einsum/ops.h"
#include "ops/elementwise/ops.h"
#include "ops/embedding/ops.h"
#include "ops/layout/ops.h"
#include "ops/reduce/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_PIPELINESPLIT
#include "compiler/passes/pipeline/Passes.h.inc"
namespace {

using namespace weft::ir;

bool isBackward(Operation *op) { return phaseOf(op) == OpPhase::Backward; }

struct PipelineSplit : impl::PipelineSplitBase<PipelineSplit> {
  void runOnOperation() override {
    for (auto accumulate : getOperation().getBody().getOps<AccumulateOp>()) {
      llvm::SmallVector<Operation *> chain = {accumulate};
      if (!isBackward(accumulate) || !collect(accumulate.getInput(), chain)) {
        continue;
      }
      for (Operation *op : chain) {
        setPhase(op, OpPhase::Weight);
        ++numMoved;
      }
    }
  }

private:
  // Adds what makes `value` to the chain, from the ops that begin it on; false if something else needs a part of it.
  bool collect(mlir::Value value, llvm::SmallVectorImpl<Operation *> &chain) {
    Operation *op = value.getDefiningOp();
    // What is of a part of a loss's rows is done with that part.
    if (!op || !isBackward(op) || op->hasAttr(kOfChunkName)) {
      return false;
    }
    if (!llvm::all_of(op->getUsers(), [&](Operation *user) { return llvm::is_contained(chain, user); })) {
      return false;
    }
    chain.push_back(op);
    if (llvm::isa<EinsumOp, EmbeddingGradOp, ReduceOp>(op)) {
      return true;
    }
    return llvm::isa<AddOp, AddNOp, CastOp, ScaleOp, ReshapeOp, TransposeOp, SliceOp, PadOp, BoxOp>(op) &&
           llvm::all_of(op->getOperands(), [&](mlir::Value operand) { return collect(operand, chain); });
  }
};

} // namespace
} // namespace weft::compiler
