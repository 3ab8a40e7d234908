// SBP inference of a graph whose ops have stages, but no states yet:
//
//   pins ─▶ for each stage, for each axis of its mesh, outermost first: one labelling problem (solver.h) ─▶ types ─▶
//   boxes
//
// An axis is decided on the tiles that the axes before it leave.
#include "compiler/analysis/boxing.h"
#include "compiler/analysis/cost.h"
#include "compiler/analysis/pins.h"
#include "compiler/analysis/section.h"
#include "compiler/passes/shard/passes.h"
#include "compiler/passes/shard/solver.h"
#include "llvm/ADT/SmallBitVector.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SHARDINFER
#include "compiler/passes/shard/Passes.h.inc"
namespace {

using namespace weft::ir;

// What inference knows of one op.
struct OpInfo {
  Operation *op;
  int64_t stage;
  ShardingRule rule;
  SmallVector<Signature> signatures;
  std::optional<States> pinned;           // of all results (parameters, to_global, accumulate)
  llvm::SmallBitVector free;              // axes that the pins leave open
  SmallVector<const Signature *> perAxis; // decided so far
};

class Inference {
public:
  Inference(GraphOp graph, const CostModel &machine, bool broadcast)
      : graph_(graph), sections_(graph), machine_(machine), broadcast_(broadcast) {}

  llvm::LogicalResult run() {
    if (failed(collect())) {
      return mlir::failure();
    }
    for (int64_t stage = 0; stage < int64_t(graph_.getPlacements().size()); ++stage) {
      for (size_t axis = 0; axis < graph_.getPlacement(stage).getSizes().size(); ++axis) {
        if (failed(decide(stage, axis))) {
          return mlir::failure();
        }
      }
    }
    return mlir::success();
  }

  llvm::MutableArrayRef<OpInfo> ops() { return ops_; }

  // The states of a value as its producer makes it.
  States produced(Value value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      return inputs_[argument.getArgNumber()];
    }
    OpInfo &info = ops_[index_[value.getDefiningOp()]];
    unsigned number = llvm::cast<mlir::OpResult>(value).getResultNumber();
    States states;
    for (const Signature *s : info.perAxis) {
      states.push_back(s->results[number]);
    }
    return states;
  }

private:
  llvm::LogicalResult collect() {
    for (unsigned i = 0; i < graph_.getBody().getNumArguments(); ++i) {
      llvm::FailureOr<States> states = inputStates(graph_, i);
      if (failed(states)) {
        return mlir::failure();
      }
      inputs_.push_back(*states);
    }
    for (Operation &op : graph_.getBody().front()) {
      OpInfo info{&op, stageOf(&op), {}, {}, {}, {}, {}};
      PlacementAttr placement = graph_.getPlacement(info.stage);
      if (auto weftOp = llvm::dyn_cast<WeftOpInterface>(op)) {
        info.rule = weftOp.getShardingRule();
      } else if (auto output = llvm::dyn_cast<OutputOp>(op)) {
        llvm::ArrayRef<int64_t> shape = shapeOf(output.getValue());
        info.rule = ShardingRule::pointwise({shape}, shape, /*numResults=*/0);
      } else {
        return op.emitOpError("expected an op of the vocabulary before shard");
      }
      info.signatures = enumerateSignatures(info.rule);
      llvm::FailureOr<States> pinned = mlir::failure();
      if (auto parameter = llvm::dyn_cast<ParameterOp>(op)) {
        pinned = resolvePins(&op, parameter.getName(), parameter.getPinsAttr(), tensorOf(parameter), placement);
      } else if (auto global = llvm::dyn_cast<ToGlobalOp>(op)) {
        pinned = resolvePins(&op, "result", global.getPinsAttr(), tensorOf(global), placement);
      } else if (auto sum = llvm::dyn_cast<AccumulateOp>(op); sum && sum.getPins()) {
        pinned = resolvePins(&op, "result", sum.getPinsAttr(), tensorOf(sum), placement);
        info.free.resize(unsigned(placement.getAxes().size()));
        for (auto [axis, name] : llvm::enumerate(placement.getAxes())) {
          info.free[unsigned(axis)] = !sum.getPinsAttr().contains(name);
        }
      } else {
        addOp(std::move(info));
        continue;
      }
      if (failed(pinned)) {
        return mlir::failure();
      }
      info.pinned = *pinned;
      addOp(std::move(info));
    }
    return mlir::success();
  }

  void addOp(OpInfo &&info) {
    bool parameters = llvm::isa<ParameterOp>(info.op) ||
                      (info.op->getNumOperands() > 0 && llvm::all_of(info.op->getOperands(), [&](Value operand) {
                         return ofParameters_.contains(operand);
                       }));
    if (parameters && !sections_.isStep(info.op)) {
      ofParameters_.insert(info.op->result_begin(), info.op->result_end());
    }
    index_[info.op] = int(ops_.size());
    ops_.push_back(std::move(info));
  }

  // The tile of `type` under the decided axes, plus `state` on the next.
  RankedTensorType tile(RankedTensorType type, llvm::ArrayRef<SbpState> states, PlacementAttr placement) {
    return RankedTensorType::get(localShape(type.getShape(), states, placement.getSizes().take_front(states.size())),
                                 type.getElementType());
  }

  // Whether an op has no kernel. The sum over a single micro-batch is none: it is that micro-batch's gradient.
  bool isFree(Operation *op) {
    return llvm::isa<ParameterOp, ToGlobalOp, AssignOp>(op) ||
           (llvm::isa<AccumulateOp>(op) && graph_.getMicroBatches() == 1);
  }

  double nodeSeconds(OpInfo &info, const Signature &candidate, PlacementAttr placement) {
    auto weftOp = llvm::dyn_cast<WeftOpInterface>(info.op);
    if (!weftOp || isFree(info.op)) {
      return 0;
    }
    SmallVector<RankedTensorType> operands, results;
    auto tiles = [&](mlir::ValueRange values, auto member, SmallVector<RankedTensorType> &out) {
      for (auto [i, value] : llvm::enumerate(values)) {
        States states;
        for (const Signature *s : info.perAxis) {
          states.push_back((s->*member)[i]);
        }
        states.push_back((candidate.*member)[i]);
        out.push_back(tile(tensorOf(value), states, placement));
      }
    };
    tiles(info.op->getOperands(), &Signature::operands, operands);
    tiles(info.op->getResults(), &Signature::results, results);
    return plan::KernelSeconds(machine_, workOf(weftOp, operands, results));
  }

  // True if the signature fits the pins and cuts evenly after the axes before.
  bool legal(OpInfo &info, const Signature &s, size_t axis, PlacementAttr placement) {
    SmallVector<const Signature *> all(info.perAxis);
    all.push_back(&s);
    if (!divides(info.rule, all, placement.getSizes())) {
      return false;
    }
    if (info.pinned && !(axis < info.free.size() && info.free[unsigned(axis)])) {
      return llvm::all_of(s.results, [&](SbpState state) { return state == (*info.pinned)[axis]; });
    }
    if (auto assign = llvm::dyn_cast<AssignOp>(info.op)) {
      OpInfo &target = ops_[index_[assign.getTarget().getDefiningOp()]];
      return s.operands[0] == (*target.pinned)[axis];
    }
    if (auto output = llvm::dyn_cast<OutputOp>(info.op)) {
      return !output.getMetric() || s.operands[0].kind == SbpState::Broadcast;
    }
    return !broadcast_ || s.factor < 0;
  }

  // How often a step boxes an operand of `op`: of what is there before the micro-batches, once.
  double boxRuns(Operation *op, Value operand) {
    Operation *producer = operand.getDefiningOp();
    bool begin = producer && (llvm::isa<ParameterOp>(producer) || sections_.isBegin(producer));
    return begin && !op->hasAttr("on_use") ? 1 : sections_.runs(op, double(graph_.getMicroBatches()));
  }

  // Whether nothing but additions come of the operands: each has as many elements as the one result, and all of them
  // may be pending sums together.
  static bool isAdditive(const OpInfo &info) {
    if (info.op->getNumResults() != 1) {
      return false;
    }
    auto size = [](Value value) { return mlir::ShapedType::getNumElements(shapeOf(value)); };
    auto pending = [](SbpState state) { return state.kind == SbpState::PartialSum; };
    return llvm::all_of(info.op->getOperands(),
                        [&](Value operand) { return size(operand) == size(info.op->getResult(0)); }) &&
           llvm::any_of(info.signatures, [&](const Signature &s) {
             return llvm::all_of(s.operands, pending) && llvm::all_of(s.results, pending);
           });
  }

  // The terms of sums over the micro-batches that a pin wants split on this axis: reduced as they are made.
  llvm::DenseSet<Value> termsToSplit(size_t axis) {
    llvm::DenseSet<Value> terms;
    for (OpInfo &info : llvm::reverse(ops_)) {
      bool sum = llvm::isa<AccumulateOp>(info.op) && info.pinned && !info.free[unsigned(axis)] &&
                 (*info.pinned)[axis].isSplit();
      if (sum || (info.op->getNumResults() == 1 && terms.contains(info.op->getResult(0)) && isAdditive(info))) {
        terms.insert(info.op->operand_begin(), info.op->operand_end());
      }
    }
    return terms;
  }

  // What the optimizer keeps for the next step.
  bool isNextState(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto assign = llvm::dyn_cast<AssignOp>(user);
      return assign && assign.getTarget() != value &&
             llvm::cast<ParameterOp>(assign.getTarget().getDefiningOp()).getState();
    });
  }

  // Whether the axis splits the batch.
  bool splitsBatch(size_t axis) {
    return llvm::any_of(
        inputs_, [&](const States &states) { return axis < states.size() && states[axis] == SbpState::split(0); });
  }

  llvm::LogicalResult decide(int64_t stage, size_t axis) {
    PlacementAttr placement = graph_.getPlacement(stage);
    std::vector<SolverNode> nodes;
    std::vector<SolverValue> values;
    llvm::DenseMap<Value, int> valueIndex;
    std::vector<int> opOfNode;
    bool ofBatch = splitsBatch(axis);
    llvm::DenseSet<Value> toSplit = termsToSplit(axis);
    auto addValue = [&](Value value) {
      auto [it, added] = valueIndex.try_emplace(value, int(values.size()));
      if (!added) {
        return it->second;
      }
      SolverValue v;
      Operation *producer = value.getDefiningOp();
      v.free = stageOf(value) != stage;
      v.keepSplit = ofParameters_.contains(value);
      bool micro = !producer || sections_.isMicro(producer);
      v.overlapped = llvm::isa_and_nonnull<AccumulateOp>(producer);
      v.keepState =
          (ofBatch && micro && !v.overlapped && !v.keepSplit && !toSplit.contains(value)) || isNextState(value);
      if (!v.free) {
        States before = produced(value);
        before.resize(axis);
        v.bytes = double(bytesOf(tile(tensorOf(value), before, placement)));
        if (!producer) {
          v.fixed = inputs_[llvm::cast<mlir::BlockArgument>(value).getArgNumber()][axis];
        }
      }
      values.push_back(v);
      return it->second;
    };
    for (auto [i, info] : llvm::enumerate(ops_)) {
      if (info.stage != stage) {
        continue;
      }
      SolverNode node;
      node.weight = sections_.runs(info.op, double(graph_.getMicroBatches()));
      for (const Signature &s : info.signatures) {
        if (legal(info, s, axis, placement)) {
          node.candidates.push_back(&s);
          node.seconds.push_back(nodeSeconds(info, s, placement));
        }
      }
      if (node.candidates.empty()) {
        return info.op->emitOpError() << "expected an SBP signature that honours the pins on mesh axis "
                                      << placement.getAxes()[axis] << ", got none";
      }
      for (auto [number, operand] : llvm::enumerate(info.op->getOperands())) {
        int v = addValue(operand);
        node.operands.push_back(v);
        node.moves.push_back(boxRuns(info.op, operand));
        values[v].uses.push_back({int(nodes.size()), int(number)});
      }
      for (mlir::OpResult result : info.op->getResults()) {
        int v = addValue(result);
        values[v].producer = int(nodes.size());
        values[v].result = int(result.getResultNumber());
        node.results.push_back(v);
      }
      nodes.push_back(std::move(node));
      opOfNode.push_back(int(i));
    }
    Solver(nodes, values, spreadOf(placement.getSizes(), {int(axis)}, machine_), machine_).solve();
    for (auto [node, op] : llvm::zip(nodes, opOfNode)) {
      ops_[op].perAxis.push_back(node.candidates[node.choice]);
    }
    return mlir::success();
  }

  GraphOp graph_;
  Sections sections_;
  const CostModel &machine_;
  bool broadcast_;
  SmallVector<States> inputs_;
  std::vector<OpInfo> ops_;
  llvm::DenseMap<Operation *, int> index_;
  llvm::DenseSet<Value> ofParameters_;
};

struct ShardInfer : impl::ShardInferBase<ShardInfer> {
  using ShardInferBase::ShardInferBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    boxes_.clear(); // one pass may run over several graphs
    llvm::FailureOr<CostModel> rates = machineOf(graph);
    if (failed(rates)) {
      return signalPassFailure();
    }
    machine_ = *rates;
    Inference inference(graph, machine_, broadcast);
    if (failed(inference.run())) {
      return signalPassFailure();
    }
    // What each op wants of its operands, before types and operands change.
    SmallVector<SmallVector<SbpAttr>> wanted;
    llvm::DenseMap<Value, SbpAttr> made;
    for (OpInfo &info : inference.ops()) {
      SmallVector<SbpAttr> &row = wanted.emplace_back();
      for (unsigned i = 0; i < info.op->getNumOperands(); ++i) {
        States states;
        for (const Signature *s : info.perAxis) {
          states.push_back(s->operands[i]);
        }
        row.push_back(SbpAttr::get(&getContext(), states));
      }
      for (Value result : info.op->getResults()) {
        made[result] = SbpAttr::get(&getContext(), inference.produced(result));
      }
    }
    for (Value argument : graph.getBody().getArguments()) {
      made[argument] = SbpAttr::get(&getContext(), inference.produced(argument));
    }
    for (auto [value, sbp] : made) {
      value.setType(withSbp(tensorOf(value), sbp));
    }
    for (auto [info, row] : llvm::zip(inference.ops(), wanted)) {
      for (auto [i, sbp] : llvm::enumerate(row)) {
        boxOperand(graph, info, unsigned(i), sbp);
      }
    }
    for (auto global : llvm::make_early_inc_range(graph.getBody().getOps<ToGlobalOp>())) {
      global.replaceAllUsesWith(global.getInput());
      global.erase();
    }
  }

private:
  // Makes operand `i` arrive with `sbp`: itself, a box that an earlier reader
  // has, or a new one from where it is cheapest.
  void boxOperand(GraphOp graph, OpInfo &info, unsigned i, SbpAttr sbp) {
    Value value = info.op->getOperand(i);
    int64_t from = stageOf(value);
    if (from == info.stage && sbpOf(value.getType()) == sbp) {
      return;
    }
    SmallVector<Value> &known = boxes_[{value, info.stage}];
    bool onUse = info.op->hasAttr("on_use"); // a box of its own
    for (Value box : known) {
      if (!onUse && sbpOf(box.getType()) == sbp) {
        info.op->setOperand(i, box);
        return;
      }
    }
    Value source = cheapest(graph, value, known, sbp, from, info.stage);
    mlir::OpBuilder builder(info.op);
    auto box = builder.create<BoxOp>(info.op->getLoc(), withSbp(tensorOf(value), sbp), source);
    setBelongings(box, belongingsOf(info.op));
    if (!onUse) {
      known.push_back(box);
    }
    info.op->setOperand(i, box);
    ++numBoxes;
  }

  Value cheapest(GraphOp graph, Value value, llvm::ArrayRef<Value> known, SbpAttr sbp, int64_t from, int64_t to) {
    llvm::ArrayRef<int64_t> sizes = graph.getPlacement(to).getSizes();
    RankedTensorType type = tensorOf(value);
    int64_t elementBytes = (type.getElementTypeBitWidth() + 7) / 8;
    auto seconds = [&](Value source) {
      double sum = 0;
      SmallVector<SbpState> before(sbpOf(source.getType()).getStates());
      for (const BoxStep &step : findRoute(before, sbp.getStates(), type.getShape(), elementBytes, sizes, machine_)) {
        sum += stepSeconds(step.kind, double(bytesOf(type)), spreadOf(sizes, step.axes, machine_), machine_);
      }
      return sum;
    };
    Value best = from == to ? value : Value();
    for (Value box : known) {
      if (!best || seconds(box) < seconds(best)) {
        best = box;
      }
    }
    return best ? best : value;
  }

  CostModel machine_;
  llvm::DenseMap<std::pair<Value, int64_t>, SmallVector<Value>> boxes_;
};

} // namespace
} // namespace weft::compiler
