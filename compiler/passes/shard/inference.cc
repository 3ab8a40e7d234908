#include "compiler/passes/shard/inference.h"

#include <limits>
#include <set>
#include <tuple>

#include "compiler/analysis/boxing.h"
#include "compiler/analysis/cost.h"
#include "compiler/analysis/repeats.h"
#include "compiler/analysis/ring.h"
#include "compiler/passes/shard/blocks.h"
#include "compiler/passes/shard/box_costs.h"
#include "compiler/passes/shard/exact.h"
#include "compiler/passes/shard/next_best.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {

using namespace weft::ir;

namespace {

// Whether nothing but additions come of the operands: each has as many elements as the one result, and all of them
// may be pending sums together.
bool isAdditive(const OpInfo &info) {
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

// What the optimizer keeps for the next step.
bool isNextState(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto assign = llvm::dyn_cast<AssignOp>(user);
    return assign && assign.getTarget() != value &&
           llvm::cast<ParameterOp>(assign.getTarget().getDefiningOp()).getState();
  });
}

// Whether the op reads a tensor where it lies, as what it lies in: the target of an assignment, what an optimizer
// keeps.
bool isInPlace(Operation *op, Value operand) {
  if (auto update = llvm::dyn_cast<UpdateOpInterface>(op)) {
    return operand == update.getParameter() || llvm::is_contained(update.getState(), operand);
  }
  auto assign = llvm::dyn_cast<AssignOp>(op);
  return assign && operand == assign.getTarget();
}

} // namespace

Inference::Inference(GraphOp graph, const CostModel &machine, bool broadcast, Rings rings, FreeParameters free)
    : graph_(graph), sections_(graph), machine_(machine), broadcast_(broadcast), rings_(rings), free_(std::move(free)) {
}

llvm::LogicalResult Inference::run() {
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

States Inference::produced(Value value) const {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
    return inputs_[argument.getArgNumber()];
  }
  const OpInfo &info = ops_[index_.lookup(value.getDefiningOp())];
  unsigned number = llvm::cast<mlir::OpResult>(value).getResultNumber();
  States states;
  for (const Signature *s : info.perAxis) {
    states.push_back(s->results[number]);
  }
  return states;
}

NextBests Inference::nextBestsOf(Value value, llvm::ArrayRef<SbpState> states) const {
  NextBests all;
  for (const Boxed &boxed : boxed_.lookup(value)) {
    if (states[boxed.axis] == boxed.to) {
      all.push_back({boxed.axis, boxed.instead});
    }
  }
  return all;
}

llvm::LogicalResult Inference::collect() {
  for (unsigned i = 0; i < graph_.getBody().getNumArguments(); ++i) {
    llvm::FailureOr<States> states = inputStates(graph_, i);
    if (failed(states)) {
      return mlir::failure();
    }
    inputs_.push_back(*states);
  }
  ops_.reserve(graph_.getBody().front().getOperations().size());
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
    info.free.resize(unsigned(placement.getAxes().size()));
    if (auto parameter = llvm::dyn_cast<ParameterOp>(op)) {
      pinned = resolvePins(&op, parameter.getName(), parameter.getPinsAttr(), tensorOf(parameter), placement);
      for (auto [axis, name] : llvm::enumerate(placement.getAxes())) {
        info.free[unsigned(axis)] = isOpen(name) && !parameter.getPinned();
      }
    } else if (auto global = llvm::dyn_cast<ToGlobalOp>(op)) {
      pinned = resolvePins(&op, "result", global.getPinsAttr(), tensorOf(global), placement);
    } else if (auto sum = llvm::dyn_cast<AccumulateOp>(op); sum && sum.getPins()) {
      pinned = resolvePins(&op, "result", sum.getPinsAttr(), tensorOf(sum), placement);
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

void Inference::addOp(OpInfo &&info) {
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
RankedTensorType Inference::tile(RankedTensorType type, llvm::ArrayRef<SbpState> states,
                                 PlacementAttr placement) const {
  return RankedTensorType::get(localShape(type.getShape(), states, placement.getSizes().take_front(states.size())),
                               type.getElementType());
}

// Whether an op has no kernel. The sum over a single micro-batch is none: it is that micro-batch's gradient.
bool Inference::isFree(Operation *op) {
  return llvm::isa<ParameterOp, ToGlobalOp, AssignOp>(op) ||
         (llvm::isa<AccumulateOp>(op) && graph_.getMicroBatches() == 1);
}

double Inference::nodeSeconds(const OpInfo &info, llvm::ArrayRef<const Signature *> perAxis, PlacementAttr placement) {
  auto weftOp = llvm::dyn_cast<WeftOpInterface>(info.op);
  if (!weftOp || isFree(info.op)) {
    return 0;
  }
  SmallVector<RankedTensorType> operands, results;
  auto tiles = [&](mlir::ValueRange values, auto member, SmallVector<RankedTensorType> &out) {
    for (auto [i, value] : llvm::enumerate(values)) {
      States states;
      for (const Signature *s : perAxis) {
        states.push_back((s->*member)[i]);
      }
      out.push_back(tile(tensorOf(value), states, placement));
    }
  };
  tiles(info.op->getOperands(), &Signature::operands, operands);
  tiles(info.op->getResults(), &Signature::results, results);
  const auto *ring = llvm::find_if(perAxis, [](const Signature *s) { return s->ring; });
  if (ring == perAxis.end()) {
    return plan::KernelSeconds(machine_, workOf(weftOp, operands, results));
  }
  const int axis = int(ring - perAxis.begin());
  return ringCost(weftOp, info.rule, operands, results, placement.getSizes()[axis],
                  spreadOf(placement.getSizes(), {axis}, machine_), machine_)
      .seconds();
}

States Inference::wanted(const OpInfo &info, unsigned operand) {
  States states;
  for (const Signature *s : info.perAxis) {
    states.push_back(s->operands[operand]);
  }
  return states;
}

double Inference::seconds() {
  double sum = 0;
  Routes routes(machine_);
  std::set<std::tuple<void *, int64_t, States>> boxed; // a value is boxed once for all ops of a stage
  for (const OpInfo &info : ops_) {
    PlacementAttr placement = graph_.getPlacement(info.stage);
    sum += sections_.runs(info.op, double(graph_.getMicroBatches())) * nodeSeconds(info, info.perAxis, placement);
    for (auto [i, value] : llvm::enumerate(info.op->getOperands())) {
      const States from = produced(value), to = wanted(info, unsigned(i));
      if (stageOf(value) != info.stage || !boxed.insert({value.getAsOpaquePointer(), info.stage, to}).second) {
        continue;
      }
      double route = 0;
      for (const BoxStep &step : routes.find(from, to, tensorOf(value), placement.getSizes())) {
        route += step.seconds;
      }
      const bool overlapped = llvm::isa_and_nonnull<AccumulateOp>(value.getDefiningOp());
      sum += boxRuns(info.op, value) * route * (overlapped ? kExposedShare : 1);
    }
  }
  return sum;
}

bool Inference::mayGainFromRings() {
  return llvm::any_of(ops_, [&](const OpInfo &info) {
    llvm::ArrayRef<int64_t> sizes = graph_.getPlacement(info.stage).getSizes();
    bool another = false; // an axis of the sequence that does something else
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      if (sizes[axis] > 1 && another) {
        return true;
      }
      another |= info.rule.ring && sizes[axis] > 1 && splitsInputs(axis, 1) && !info.perAxis[axis]->ring;
    }
    return false;
  });
}

// Whether a signature leaves bytes, which no collective adds up, as pending sums.
static bool leavesBytesPending(Operation *op, const Signature &s) {
  auto pending = [](Value value, SbpState state) {
    return state.isPartial() && tensorOf(value).getElementType().isInteger(8);
  };
  return llvm::any_of(llvm::zip(op->getOperands(), s.operands), [&](auto it) { return std::apply(pending, it); }) ||
         llvm::any_of(llvm::zip(op->getResults(), s.results), [&](auto it) { return std::apply(pending, it); });
}

// Whether a signature has what is pinned on an axis: of an op, its results; of an assignment, what it assigns.
bool Inference::honoursPins(OpInfo &info, const Signature &s, size_t axis) {
  if (info.pinned && !info.free[unsigned(axis)]) {
    return llvm::all_of(s.results, [&](SbpState state) { return state == (*info.pinned)[axis]; });
  }
  if (auto assign = llvm::dyn_cast<AssignOp>(info.op)) {
    OpInfo &target = ops_[index_[assign.getTarget().getDefiningOp()]];
    return target.free[unsigned(axis)] || s.operands[0] == (*target.pinned)[axis];
  }
  return true;
}

// Whether signatures of the axes from `axis` on can honour the pins and cut evenly, behind these of the axes before.
// Example: a pin splits 2 heads on the last of two axes of 2 ranks, so the first must not.
bool Inference::leavesRoom(OpInfo &info, SmallVector<const Signature *> &perAxis, PlacementAttr placement) {
  const size_t axis = perAxis.size();
  if (axis == placement.getSizes().size()) {
    return true;
  }
  for (const Signature &s : info.signatures) {
    if (!honoursPins(info, s, axis)) {
      continue;
    }
    perAxis.push_back(&s);
    const bool hasRoom = divides(info.rule, perAxis, placement.getSizes()) && leavesRoom(info, perAxis, placement);
    perAxis.pop_back();
    if (hasRoom) {
      return true;
    }
  }
  return false;
}

// True if the signature fits the pins and cuts evenly after the axes before.
bool Inference::legal(OpInfo &info, const Signature &s, size_t axis, PlacementAttr placement) {
  SmallVector<const Signature *> all(info.perAxis);
  all.push_back(&s);
  if (!divides(info.rule, all, placement.getSizes()) || leavesBytesPending(info.op, s) || !honoursPins(info, s, axis) ||
      !leavesRoom(info, all, placement)) {
    return false;
  }
  if (llvm::isa<AssignOp>(info.op) || (info.pinned && !info.free[unsigned(axis)])) {
    return true;
  }
  if (auto output = llvm::dyn_cast<OutputOp>(info.op)) {
    return !output.getMetric() || s.operands[0].kind == SbpState::Broadcast;
  }
  return s.ring ? rings_ != Rings::Never && !broadcast_ : !broadcast_ || s.factor < 0;
}

// How often a step boxes an operand of `op`: of what is there before the micro-batches, once.
double Inference::boxRuns(Operation *op, Value operand) {
  Operation *producer = operand.getDefiningOp();
  bool begin = producer && (llvm::isa<ParameterOp>(producer) || sections_.isBegin(producer));
  return begin && !op->hasAttr("on_use") ? 1 : sections_.runs(op, double(graph_.getMicroBatches()));
}

// The terms of sums over the micro-batches that a pin wants split on this axis: reduced as they are made.
llvm::DenseSet<Value> Inference::termsToSplit(size_t axis) {
  llvm::DenseSet<Value> terms;
  for (OpInfo &info : llvm::reverse(ops_)) {
    bool sum =
        llvm::isa<AccumulateOp>(info.op) && info.pinned && !info.free[unsigned(axis)] && (*info.pinned)[axis].isSplit();
    if (sum || (info.op->getNumResults() == 1 && terms.contains(info.op->getResult(0)) && isAdditive(info))) {
      terms.insert(info.op->operand_begin(), info.op->operand_end());
    }
  }
  return terms;
}

// Whether the axis splits inputs along this dimension, of which 0 is the batch.
bool Inference::splitsInputs(size_t axis, int64_t dim) const {
  return llvm::any_of(
      inputs_, [&](const States &states) { return axis < states.size() && states[axis] == SbpState::split(dim); });
}

bool Inference::isOpen(mlir::StringAttr axis) const { return llvm::is_contained(free_.axes, axis.getValue().str()); }

SolverValue::Held Inference::heldOf(Value value) const {
  const double share = 1.0 / double(free_.zeroRanks);
  auto sharedFrom = [&](int64_t stage) { return free_.zeroStage >= stage ? share : 1.0; };
  Operation *producer = value.getDefiningOp();
  SolverValue::Held held;
  if (ofParameters_.contains(value)) {
    held.made = llvm::isa<ParameterOp>(producer) ? sharedFrom(1) : sharedFrom(3);
    held.copy = free_.zeroStage >= 3 ? 0 : 1; // ZeRO 3 drops what it gathers
  } else if (llvm::isa_and_nonnull<AccumulateOp>(producer)) {
    held.made = sharedFrom(2);
  } else if (producer && phaseOf(producer) == OpPhase::Forward && sections_.isMicro(producer) &&
             llvm::any_of(value.getUsers(), [](Operation *user) { return phaseOf(user) == OpPhase::Backward; })) {
    held.read = free_.inFlight;
  }
  return held;
}

// Where the inputs are split along the sequence, a second start: as if no value of a micro-batch could be boxed, but
// for 1000 times its price. From operands as they come, one op after the other, weights split with their products looks
// cheaper for each op than gradients that are summed at the end: all of a layer has to change to see otherwise.
void Inference::tryAsTheyFlow(Solver &solver, std::vector<SolverNode> &nodes, std::vector<SolverValue> values,
                              llvm::ArrayRef<int> flowing, const plan::Spread &group) {
  const double seconds = solver.total();
  const auto choices = llvm::map_to_vector(nodes, [](const SolverNode &node) { return node.choice; });
  for (int v : flowing) {
    values[v].keepState = true;
  }
  Solver(nodes, values, group, machine_).solve();
  solver.refine();
  if (solver.total() < seconds) {
    return;
  }
  for (auto [node, choice] : llvm::zip(nodes, choices)) {
    node.choice = choice;
  }
}

llvm::LogicalResult Inference::decide(int64_t stage, size_t axis) {
  PlacementAttr placement = graph_.getPlacement(stage);
  std::vector<SolverNode> nodes;
  std::vector<SolverValue> values;
  llvm::DenseMap<Value, int> valueIndex;
  std::vector<int> opOfNode;
  std::vector<Operation *> opsOfNodes;
  std::vector<Value> valueOf;
  std::vector<int> flowing; // values of a micro-batch
  const bool ofBatch = splitsInputs(axis, 0), open = isOpen(placement.getAxes()[axis]);
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
    const bool flows = micro && !v.overlapped && !v.keepSplit && !toSplit.contains(value);
    v.keepState = (ofBatch && flows) || isNextState(value);
    if (flows) {
      flowing.push_back(int(values.size()));
    }
    v.held = heldOf(value);
    if (!v.free) {
      States before = produced(value);
      before.resize(axis);
      v.bytes = double(bytesOf(tile(tensorOf(value), before, placement)));
      if (!producer) {
        v.fixed = inputs_[llvm::cast<mlir::BlockArgument>(value).getArgNumber()][axis];
      }
    }
    values.push_back(v);
    valueOf.push_back(value);
    return it->second;
  };
  for (auto [i, info] : llvm::enumerate(ops_)) {
    if (info.stage != stage) {
      continue;
    }
    SolverNode node;
    node.weight = sections_.runs(info.op, double(graph_.getMicroBatches()));
    auto isLegal = [&](const Signature &s) { return legal(info, s, axis, placement); };
    const bool ringAlone = rings_ == Rings::Always && splitsInputs(axis, 1) &&
                           llvm::any_of(info.signatures, [&](const Signature &s) { return s.ring && isLegal(s); });
    for (const Signature &s : info.signatures) {
      if (isLegal(s) && (s.ring || !ringAlone)) {
        node.candidates.push_back(&s);
        SmallVector<const Signature *> perAxis(info.perAxis);
        perAxis.push_back(&s);
        node.seconds.push_back(nodeSeconds(info, perAxis, placement));
      }
    }
    if (node.candidates.empty()) {
      return info.op->emitOpError() << "expected an SBP signature that honours the pins on mesh axis "
                                    << placement.getAxes()[axis] << ", got none";
    }
    for (auto [number, operand] : llvm::enumerate(info.op->getOperands())) {
      int v = addValue(operand);
      node.operands.push_back(v);
      node.moves.push_back(open && isInPlace(info.op, operand) ? std::numeric_limits<double>::infinity()
                                                               : boxRuns(info.op, operand));
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
    opsOfNodes.push_back(info.op);
  }
  const plan::Spread group = spreadOf(placement.getSizes(), {int(axis)}, machine_);
  if (!open) {
    Solver solver(nodes, values, group, machine_);
    solver.solve();
    if (!ofBatch && splitsInputs(axis, 1)) {
      tryAsTheyFlow(solver, nodes, values, flowing, group);
    }
    // A model with fewer layers than it has is no plan that anyone asks.
    if (group.ranks > 1 && !graph_->getParentOfType<mlir::ModuleOp>()->hasAttr(kMostRepeatsName)) {
      for (const auto &[boxed, instead] : nextBests(nodes, values, group, machine_)) {
        boxed_[valueOf[boxed.first]].push_back({int64_t(axis), boxed.second, instead});
      }
    }
  } else if (!chooseExactly(nodes, values, blocksOf(graph_, opsOfNodes), group, machine_, free_.limit)) {
    return graph_.emitError() << "expected SBP signatures that fit each other on mesh axis "
                              << placement.getAxes()[axis] << ", got none";
  }
  for (auto [node, op] : llvm::zip(nodes, opOfNode)) {
    ops_[op].perAxis.push_back(node.candidates[node.choice]);
  }
  return mlir::success();
}

} // namespace weft::compiler
