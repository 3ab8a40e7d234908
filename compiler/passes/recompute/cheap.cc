#include "compiler/passes/recompute/cheap.h"

#include "compiler/analysis/boxing.h"
#include "compiler/analysis/cost.h"
#include "compiler/passes/recompute/cut.h"
#include "ops/layout/ops.h"

namespace weft::compiler {

using namespace weft::ir;

namespace {

bool isForward(Operation *op) { return phaseOf(op) == OpPhase::Forward; }

// The network of one layer. An op and each of its results are nodes; on the sink's side an op is run again, and a
// result is there for the backward. So the edges that a cut pays for are: source to op, to run it again; op to
// result, to keep it. What is run again needs its operands, what the backward reads is needed: infinite edges.
class Network {
public:
  Network(const Layer &layer, const Sections &sections, PlacementAttr placement, const CostModel &machine)
      : layer_(layer), sections_(sections), placement_(placement), machine_(machine) {}

  llvm::SmallVector<Operation *> solve() {
    for (Operation *op : layer_.forward) {
      addOp(op);
    }
    for (Operation *reader : layer_.backward) {
      for (Value operand : reader->getOperands()) {
        if (auto it = values_.find(operand); it != values_.end()) {
          cut_.addEdge(it->second, Cut::kSink, Cut::kInfinite);
        }
      }
    }
    std::vector<bool> again = cut_.solve();
    llvm::SmallVector<Operation *> repeated;
    for (Operation *op : layer_.forward) {
      if (again[ops_.lookup(op)]) {
        repeated.push_back(op);
      }
    }
    return repeated;
  }

private:
  static int64_t picoseconds(double seconds) { return seconds < 1e5 ? int64_t(seconds * 1e12) : Cut::kInfinite / 8; }

  int64_t keeping(Value value) {
    return picoseconds(double(bytesOf(tileOf(value, placement_))) * kBytesMovedForOneKept / machine_.memory_bytes_s);
  }

  int64_t repeating(Operation *op) {
    if (llvm::isa<ReshapeOp>(op) || op->hasAttr("on_use")) {
      return 0; // another view of the same bytes; what the backward gathers for itself in any case
    }
    if (auto box = llvm::dyn_cast<BoxOp>(op)) {
      return crossesStages(box) ? Cut::kInfinite : picoseconds(boxSeconds(box, placement_, machine_));
    }
    auto weftOp = llvm::dyn_cast<WeftOpInterface>(op);
    if (!weftOp) {
      return Cut::kInfinite;
    }
    plan::KernelWork work = localWork(weftOp, placement_);
    return work.contraction_flops > 0 ? Cut::kInfinite : picoseconds(plan::KernelSeconds(machine_, work));
  }

  void addOp(Operation *op) {
    int node = cut_.addNode();
    ops_[op] = node;
    int64_t price = repeating(op);
    cut_.addEdge(Cut::kSource, node, price);
    // What is never run again may have operands on another mesh.
    for (Value operand : price < Cut::kInfinite ? mlir::ValueRange(op->getOperands()) : mlir::ValueRange()) {
      if (int needed = nodeOf(operand); needed >= 0) {
        cut_.addEdge(needed, node, Cut::kInfinite);
      }
    }
    for (Value result : op->getResults()) {
      int there = cut_.addNode();
      values_[result] = there;
      cut_.addEdge(node, there, isKeptOutside(result, layer_) ? 0 : keeping(result));
    }
  }

  // The node of an operand; -1 if it is there for the backward in any case.
  int nodeOf(Value value) {
    auto it = values_.find(value);
    if (it != values_.end()) {
      return it->second;
    }
    // From outside of the layer: inputs, what is made of parameters once a step, and other layers' results.
    Operation *producer = value.getDefiningOp();
    if (!producer || llvm::isa<ParameterOp>(producer) || !sections_.isMicro(producer) ||
        llvm::any_of(value.getUsers(), [](Operation *reader) { return !isForward(reader); })) {
      return -1;
    }
    int node = cut_.addNode();
    values_[value] = node;
    cut_.addEdge(Cut::kSource, node, keeping(value));
    return node;
  }

  const Layer &layer_;
  const Sections &sections_;
  PlacementAttr placement_;
  const CostModel &machine_;
  Cut cut_;
  llvm::DenseMap<Operation *, int> ops_;
  llvm::DenseMap<Value, int> values_;
};

} // namespace

bool crossesStages(Operation *op) { return llvm::isa<BoxOp>(op) && stageOf(op->getOperand(0)) != stageOf(op); }

bool isKeptOutside(Value value, const Layer &layer) {
  return llvm::any_of(value.getUsers(), [&](Operation *reader) {
    return !isForward(reader) && !llvm::is_contained(layer.backward, reader);
  });
}

llvm::SmallVector<Operation *> cheapToRepeat(const Layer &layer, const Sections &sections, PlacementAttr placement,
                                             const CostModel &machine) {
  return Network(layer, sections, placement, machine).solve();
}

} // namespace weft::compiler
