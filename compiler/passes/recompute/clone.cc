// From values kept for the backward to values computed again.
#include "compiler/analysis/cost.h"
#include "compiler/passes/recompute/cheap.h"
#include "compiler/passes/recompute/passes.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/IRMapping.h"

namespace weft::compiler {
#define GEN_PASS_DEF_RECOMPUTECLONE
#include "compiler/passes/recompute/Passes.h.inc"
namespace {

using namespace weft::ir;

// True if two ops on one stage compute the same.
bool isSame(Operation *a, Operation *b) {
  return a->getName() == b->getName() && a->getOperands() == b->getOperands() &&
         a->getResultTypes() == b->getResultTypes() &&
         a->getName().compareOpProperties(a->getPropertiesStorage(), b->getPropertiesStorage());
}

struct RecomputeClone : impl::RecomputeCloneBase<RecomputeClone> {
  using RecomputeCloneBase::RecomputeCloneBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    llvm::FailureOr<CostModel> rates = machineOf(graph);
    if (failed(rates)) {
      return signalPassFailure();
    }
    SmallVector<Layer> found = layersOf(graph);
    llvm::StringMap<std::string> pins;
    if (failed(readPolicies(graph, found, pins))) {
      return signalPassFailure();
    }
    Sections sections(graph);
    // The last layer first: what its clones read is then known when the layer that makes it is looked at.
    for (const Layer &layer : llvm::reverse(found)) {
      auto pin = pins.find(layer.name);
      llvm::StringRef chosen = pin == pins.end() ? llvm::StringRef(policy) : llvm::StringRef(pin->second);
      if (layer.backward.empty() || chosen == "none") {
        continue;
      }
      clone(layer, chosen == "full" ? llvm::to_vector(llvm::make_filter_range(
                                          layer.forward, [](Operation *op) { return !crossesStages(op); }))
                                    : cheapToRepeat(layer, sections, graph.getPlacement(layer.stage), *rates));
    }
  }

private:
  llvm::LogicalResult readPolicies(GraphOp graph, llvm::ArrayRef<Layer> found, llvm::StringMap<std::string> &pins) {
    auto known = [&](llvm::StringRef text) -> llvm::LogicalResult {
      if (text == "none" || text == "selective" || text == "full") {
        return mlir::success();
      }
      return graph.emitOpError() << "recompute policy: expected none, selective or full, got " << text;
    };
    if (failed(known(policy))) {
      return mlir::failure();
    }
    for (llvm::StringRef pin : layers) {
      auto [name, text] = pin.split('=');
      if (failed(known(text))) {
        return mlir::failure();
      }
      if (llvm::none_of(found, [name = name](const Layer &layer) { return layer.name == name; })) {
        return unknown(graph, name, found);
      }
      pins[name] = text.str();
    }
    return mlir::success();
  }

  static llvm::LogicalResult unknown(GraphOp graph, llvm::StringRef name, llvm::ArrayRef<Layer> found) {
    auto error = graph.emitError() << "recompute.layers: ";
    if (found.empty()) {
      return error << "expected none, since no scope of the graph has a number, got " << name;
    }
    error << "expected a layer (";
    llvm::StringRef last;
    size_t listed = 0;
    for (const Layer &layer : found) {
      if (layer.name == last) {
        continue; // on another stage
      }
      if (listed == 8) {
        error << ", ... " << found.back().name;
        break;
      }
      error << (listed++ ? ", " : "") << layer.name;
      last = layer.name;
    }
    return error << "), got " << name;
  }

  // The results of `again` that nothing else keeps.
  static llvm::DenseSet<Value> lostOf(const Layer &layer, llvm::ArrayRef<Operation *> again) {
    llvm::DenseSet<Value> lost;
    for (Operation *op : again) {
      for (Value result : op->getResults()) {
        if (!isKeptOutside(result, layer)) {
          lost.insert(result);
        }
      }
    }
    return lost;
  }

  // Those of `again` that make what is lost and needed: by the backward, or by one that is needed itself.
  static llvm::DenseSet<Operation *> neededOf(const Layer &layer, llvm::ArrayRef<Operation *> again,
                                              const llvm::DenseSet<Value> &lost) {
    llvm::DenseSet<Operation *> needed;
    auto need = [&](Operation *reader) {
      for (Value operand : reader->getOperands()) {
        if (lost.contains(operand)) {
          needed.insert(operand.getDefiningOp());
        }
      }
    };
    llvm::for_each(layer.backward, need);
    for (Operation *op : llvm::reverse(again)) {
      if (needed.contains(op)) {
        need(op);
      }
    }
    return needed;
  }

  // Clones those of `again` that the layer's backward needs, in front of it.
  void clone(const Layer &layer, llvm::ArrayRef<Operation *> again) {
    llvm::DenseSet<Value> lost = lostOf(layer, again);
    llvm::DenseSet<Operation *> needed = neededOf(layer, again, lost);
    mlir::OpBuilder builder(layer.backward.front());
    mlir::IRMapping clones;
    SmallVector<Operation *> copies, gathers;
    for (Operation *op : again) {
      if (!needed.contains(op)) {
        continue;
      }
      Operation *copy = builder.clone(*op, clones);
      setPhase(copy, OpPhase::Recompute);
      for (Value result : op->getResults()) {
        if (!lost.contains(result)) {
          clones.erase(result); // kept: the original is read
        }
      }
      if (copy->hasAttr("on_use")) {
        gathers.push_back(copy);
      }
      copies.push_back(copy);
      ++numCloned;
    }
    for (Operation *reader : layer.backward) {
      for (mlir::OpOperand &operand : reader->getOpOperands()) {
        operand.set(clones.lookupOrDefault(operand.get()));
      }
      shareGather(reader, gathers);
    }
    PlacementAttr placement = getOperation().getPlacement(layer.stage);
    for (Operation *copy : llvm::reverse(copies)) {
      if (grows(copy, placement)) {
        moveToReaders(copy);
      }
    }
  }

  // True of a gather of activations: a rank has more of its result than of its operand.
  static bool grows(Operation *op, PlacementAttr placement) {
    return llvm::isa<BoxOp>(op) && !op->hasAttr("on_use") &&
           bytesOf(tileOf(op->getResult(0), placement)) > bytesOf(tileOf(op->getOperand(0), placement));
  }

  // Right in front of the first reader, into its unit: until then the shards are there alone.
  static void moveToReaders(Operation *op) {
    Operation *first = *op->user_begin();
    for (Operation *user : op->getUsers()) {
      first = user->isBeforeInBlock(first) ? user : first;
    }
    op->moveBefore(first);
    if (llvm::all_of(op->getUsers(), [](Operation *user) { return phaseOf(user) == OpPhase::Weight; })) {
      setPhase(op, OpPhase::Weight);
    }
  }

  // A parameter that the backward gathers for itself is gathered once for what is computed again and for the backward.
  static void shareGather(Operation *op, llvm::ArrayRef<Operation *> gathers) {
    if (!op->hasAttr("on_use")) {
      return;
    }
    for (Operation *gather : gathers) {
      if (isSame(op, gather)) {
        op->replaceAllUsesWith(gather);
        op->erase();
        return;
      }
    }
  }
};

} // namespace
} // namespace weft::compiler
