// From one box a change to one box a primitive step.
#include "compiler/analysis/boxing.h"
#include "compiler/passes/box/passes.h"

namespace weft::compiler {
#define GEN_PASS_DEF_BOXROUTE
#include "compiler/passes/box/Passes.h.inc"
namespace {

using namespace weft::ir;

struct BoxRoute : impl::BoxRouteBase<BoxRoute> {
  void runOnOperation() override {
    GraphOp graph = getOperation();
    llvm::FailureOr<CostModel> rates = machineOf(graph);
    if (failed(rates)) {
      return signalPassFailure();
    }
    Routes routes(*rates);
    routes_ = &routes;
    for (BoxOp box : llvm::to_vector(graph.getBody().getOps<BoxOp>())) {
      merge(box);
    }
    for (BoxOp box : llvm::to_vector(graph.getBody().getOps<BoxOp>())) {
      if (box->use_empty()) {
        box->erase();
      } else {
        route(graph, box);
      }
    }
  }

private:
  // A box of a box starts from the first one's operand, if that one has no other reader.
  void merge(BoxOp box) {
    while (auto before = box.getInput().getDefiningOp<BoxOp>()) {
      // What is done on use stays apart from what is done once.
      if (!before->hasOneUse() || stageOf(before.getOperation()) != stageOf(box.getOperation()) ||
          before->hasAttr("on_use") != box->hasAttr("on_use")) {
        return;
      }
      box.setOperand(before.getInput());
      before.erase();
      ++numMerged;
    }
  }

  void route(GraphOp graph, BoxOp box) {
    mlir::OpBuilder builder(box);
    Value value = box.getInput();
    SbpAttr target = sbpOf(box.getType());
    int64_t from = stageOf(value), to = stageOf(box.getOperation());
    if (from != to) {
      value = cross(graph, builder, box, value, from, to);
    }
    value = walk(graph, builder, belongingsOf(box), box.getLoc(), value, target.getStates(), to);
    box.getResult().replaceAllUsesWith(value);
    box.erase();
  }

  Value step(mlir::OpBuilder &b, const mlir::NamedAttrList &belongings, mlir::Location loc, Value value,
             llvm::ArrayRef<SbpState> states) {
    auto op = b.create<BoxOp>(loc, withSbp(tensorOf(value), SbpAttr::get(&getContext(), states)), value);
    setBelongings(op, belongings);
    ++numSteps;
    return op;
  }

  // The steps on one mesh.
  Value walk(GraphOp graph, mlir::OpBuilder &b, const mlir::NamedAttrList &belongings, mlir::Location loc, Value value,
             llvm::ArrayRef<SbpState> to, int64_t stage) {
    RankedTensorType type = tensorOf(value);
    SmallVector<SbpState> from(sbpOf(type).getStates());
    for (const BoxStep &s : routes_->find(from, to, type, graph.getPlacement(stage).getSizes())) {
      value = step(b, belongings, loc, value, s.after);
    }
    return value;
  }

  // To another placement, into the target layout without its pending axes.
  Value cross(GraphOp graph, mlir::OpBuilder &b, BoxOp box, Value value, int64_t from, int64_t to) {
    SmallVector<SbpState> source(sbpOf(value.getType()).getStates()), target(sbpOf(box.getType()).getStates());
    auto shed = [](SmallVector<SbpState> &states) {
      for (SbpState &state : states) {
        state = state.isPartial() ? SbpState::broadcast() : state;
      }
    };
    shed(source);
    shed(target);
    // What prepares the transfer belongs to the producer; of an input, to the reader but for the stage.
    mlir::NamedAttrList before = belongingsOf(value.getDefiningOp() ? value.getDefiningOp() : box.getOperation());
    if (llvm::isa<mlir::BlockArgument>(value)) {
      before.erase("stage");
      if (from > 0) {
        before.append("stage", b.getI64IntegerAttr(from));
      }
    }
    value = walk(graph, b, before, box.getLoc(), value, source, from);
    return step(b, belongingsOf(box), box.getLoc(), value, target);
  }

  Routes *routes_ = nullptr; // of the graph that the pass runs on
};

} // namespace
} // namespace weft::compiler
