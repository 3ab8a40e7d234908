// --weft-zero-partition: pins parameters, optimizer state and gradients to shares of the data ranks.
#include "compiler/analysis/boxing.h"
#include "compiler/analysis/meshes.h"
#include "compiler/analysis/pins.h"
#include "compiler/job/axes.h"
#include "compiler/passes/zero/passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_ZEROPARTITION
#include "compiler/passes/zero/Passes.h.inc"
namespace {

using namespace weft::ir;

// The axis of a mesh whose ranks share out among themselves, -1 without one.
int axisOf(PlacementAttr placement) { return SharedAxis(axisNames(placement)); }

struct ZeroPartition : impl::ZeroPartitionBase<ZeroPartition> {
  using ZeroPartitionBase::ZeroPartitionBase;

  void runOnOperation() override {
    if (stage < 1 || stage > 3) {
      getOperation().emitOpError() << "stage: expected 1, 2 or 3, got " << int64_t(stage);
      return signalPassFailure();
    }
    averages_.clear();
    averaging_.clear();
    for (auto assign : getOperation().getBody().getOps<AssignOp>()) {
      findAverage(assign);
    }
    for (auto update : llvm::to_vector(getOperation().getBody().getOps<UpdateOpInterface>())) {
      if (failed(partition(update))) {
        return signalPassFailure();
      }
    }
    for (const Average &average : averages_) {
      if (failed(partition(average))) {
        return signalPassFailure();
      }
    }
    for (auto parameter : llvm::to_vector(getOperation().getBody().getOps<ParameterOp>())) {
      if (parameter->removeAttr("shared") && failed(partition(parameter))) {
        return signalPassFailure();
      }
    }
  }

private:
  // A moving average of a parameter that is trained, and its next value.
  struct Average {
    ParameterOp parameter;
    Value next;
  };

  // ---- averages -----------------------------------------------------------
  // What an assignment stores is an average if it is made, element by element, of what it replaces and a parameter of
  // its shape that is updated. Such ops work on the shares.
  void findAverage(AssignOp assign) {
    auto target = assign.getTarget().getDefiningOp<ParameterOp>();
    if (!target.getState() || assign.getValue().getDefiningOp<UpdateOpInterface>()) {
      return;
    }
    llvm::SetVector<Operation *> ops;
    bool averages = false;
    SmallVector<Value> work{assign.getValue()};
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (auto parameter = llvm::dyn_cast_or_null<ParameterOp>(op)) {
        averages |= llvm::any_of(parameter->getUsers(), llvm::IsaPred<UpdateOpInterface>) && parameter != target;
        continue;
      }
      auto isNumber = [](Value value) { return tensorOf(value).getNumElements() == 1; };
      if (!op || op->getNumResults() != 1 || !llvm::isa<AddOp, SubOp, MulOp, ScaleOp>(op) ||
          shapeOf(op->getResult(0)) != shapeOf(target)) {
        return;
      }
      ops.insert(op);
      for (Value operand : op->getOperands()) {
        if (!isNumber(operand) || isNumber(target)) {
          work.push_back(operand);
        }
      }
    }
    if (averages) {
      averages_.push_back({target, assign.getValue()});
      averaging_.insert(ops.begin(), ops.end());
    }
  }

  llvm::LogicalResult partition(Average average) {
    std::optional<Share> share;
    if (failed(shareOf(average.parameter, share))) {
      return mlir::failure();
    }
    if (share) {
      splitReaders(average.parameter, average.parameter, share->whole, share->dim);
      splitReaders(average.parameter, average.next, share->whole, share->dim);
      average.parameter.setPinsAttr(pinsOf(share->split, share->home));
    }
    return mlir::success();
  }

  // Of what a function reads while a training keeps it shared out.
  llvm::LogicalResult partition(ParameterOp parameter) {
    std::optional<Share> share;
    if (failed(shareOf(parameter, share))) {
      return mlir::failure();
    }
    if (share) {
      splitReaders(parameter, parameter, share->whole, share->dim);
      parameter.setPinsAttr(pinsOf(share->split, share->home));
    }
    return mlir::success();
  }

  // How a parameter lies, whole and shared out along a dimension.
  struct Share {
    PlacementAttr home;
    States whole, split;
    int64_t dim;
  };

  // Nothing where the parameter stays whole.
  llvm::LogicalResult shareOf(ParameterOp parameter, std::optional<Share> &share) {
    PlacementAttr home = getOperation().getPlacement(stageOf(parameter.getResult()));
    int axis = axisOf(home);
    llvm::FailureOr<States> pinned =
        resolvePins(parameter, parameter.getName(), parameter.getPinsAttr(), tensorOf(parameter), home);
    if (failed(pinned)) {
      return mlir::failure();
    }
    if (axis < 0 || (*pinned)[axis].isSplit()) {
      return mlir::success();
    }
    std::optional<int64_t> dim = dimensionFor(parameter, *pinned, home.getSizes()[axis]);
    if (!dim) {
      ++numWhole;
      return mlir::success();
    }
    ++numSplit;
    States split = *pinned;
    split[axis] = SbpState::split(*dim);
    share = {home, *pinned, split, *dim};
    return mlir::success();
  }
  // The states of a parameter on a mesh, its own or another stage's: what does not divide there is left out.
  States statesOn(ParameterOp parameter, const States &home, PlacementAttr from, PlacementAttr to) {
    States states(to.getAxes().size());
    for (auto [axis, name] : llvm::enumerate(to.getAxes())) {
      auto same = llvm::find(from.getAxes(), name);
      if (same == from.getAxes().end()) {
        continue;
      }
      states[axis] = home[same - from.getAxes().begin()];
      if (!cutsEvenly(states, shapeOf(parameter), to.getSizes())) {
        states[axis] = SbpState::broadcast();
      }
    }
    return states;
  }

  // The first dimension that the axis divides and nothing else cuts.
  static std::optional<int64_t> dimensionFor(ParameterOp parameter, const States &states, int64_t size) {
    for (auto [dim, extent] : llvm::enumerate(shapeOf(parameter))) {
      if (extent % size == 0 && !llvm::is_contained(states, SbpState::split(int64_t(dim)))) {
        return int64_t(dim);
      }
    }
    return std::nullopt;
  }

  mlir::DictionaryAttr pinsOf(const States &states, PlacementAttr placement) {
    mlir::NamedAttrList pins;
    for (auto [name, state] : llvm::zip(placement.getAxes(), states)) {
      std::string text;
      llvm::raw_string_ostream(text) << state;
      pins.append(name, ExprAttr::get(&getContext(), text));
    }
    return pins.getDictionary(&getContext());
  }

  llvm::LogicalResult partition(UpdateOpInterface update) {
    auto parameter = update.getParameter().getDefiningOp<ParameterOp>();
    if (!parameter) {
      return mlir::success();
    }
    std::optional<Share> share;
    if (failed(shareOf(parameter, share))) {
      return mlir::failure();
    }
    if (!share) {
      return mlir::success();
    }
    splitReaders(parameter, parameter, share->whole, share->dim);
    pinSums(update, stage >= 2 ? SbpState::split(share->dim) : SbpState::partialSum());
    for (Value state : update.getState()) {
      if (auto kept = state.getDefiningOp<ParameterOp>()) {
        // What is kept of rows or columns is whole along the others.
        States split = share->split;
        for (SbpState &along : split) {
          if (along.isSplit() && shapeOf(kept)[along.dim] != shapeOf(parameter)[along.dim]) {
            along = SbpState::broadcast();
          }
        }
        kept.setPinsAttr(pinsOf(split, share->home));
      }
    }
    parameter.setPinsAttr(pinsOf(share->split, share->home));
    return mlir::success();
  }

  // ---- what forward and backward read -------------------------------------
  // `shard` is the parameter, or its next value.
  void splitReaders(ParameterOp parameter, Value shard, const States &whole, int64_t dim) {
    SmallVector<mlir::OpOperand *> direct;
    SmallVector<CastOp> casts;
    for (mlir::OpOperand &use : shard.getUses()) {
      Operation *user = use.getOwner();
      if (llvm::isa<UpdateOpInterface, AssignOp>(user) || averaging_.contains(user)) {
        continue;
      }
      if (auto cast = llvm::dyn_cast<CastOp>(user)) {
        casts.push_back(cast);
      } else {
        direct.push_back(&use);
      }
    }
    if (!direct.empty()) {
      gather(parameter, shard, direct, whole, dim);
    }
    for (CastOp cast : casts) {
      SmallVector<mlir::OpOperand *> uses;
      for (mlir::OpOperand &use : cast.getResult().getUses()) {
        uses.push_back(&use);
      }
      gather(parameter, cast.getResult(), uses, whole, dim);
    }
  }

  void gather(ParameterOp parameter, Value shard, llvm::ArrayRef<mlir::OpOperand *> uses, const States &whole,
              int64_t dim) {
    llvm::MapVector<int64_t, SmallVector<mlir::OpOperand *>> byStage;
    for (mlir::OpOperand *use : uses) {
      byStage[stageOf(use->getOwner())].push_back(use);
    }
    PlacementAttr home = getOperation().getPlacement(stageOf(parameter.getResult()));
    for (auto &[at, ofStage] : byStage) {
      PlacementAttr there = getOperation().getPlacement(at);
      States states = statesOn(parameter, whole, home, there), split = states;
      int axis = axisOf(there);
      Operation *first = firstOf(ofStage);
      bool splits = axis >= 0;
      if (splits) {
        split[axis] = SbpState::split(dim);
        splits = cutsEvenly(split, shapeOf(parameter), there.getSizes());
      }
      mlir::OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(shard.getDefiningOp());
      if (stage < 3 || !splits) {
        auto copy = layOut(builder, shard, states, there);
        setBelongings(copy, onceFor(parameter, first));
        redirect(ofStage, copy);
        continue;
      }
      auto copy = layOut(builder, shard, split, there);
      setBelongings(copy, onceFor(parameter, first));
      gatherOnUse(copy, ofStage, states, there);
    }
  }

  // One gather for all readers of a scope in one phase.
  void gatherOnUse(Value shard, llvm::ArrayRef<mlir::OpOperand *> uses, const States &whole, PlacementAttr placement) {
    llvm::MapVector<std::pair<mlir::Attribute, mlir::Attribute>, SmallVector<mlir::OpOperand *>> groups;
    for (mlir::OpOperand *use : uses) {
      groups[{use->getOwner()->getAttr("scope"), use->getOwner()->getAttr("phase")}].push_back(use);
    }
    for (auto &[key, ofGroup] : groups) {
      Operation *first = firstOf(ofGroup);
      mlir::OpBuilder builder(first);
      auto copy = layOut(builder, shard, whole, placement);
      setBelongings(copy, belongingsOf(first));
      copy->setAttr("on_use", builder.getUnitAttr());
      redirect(ofGroup, copy);
    }
  }

  ToGlobalOp layOut(mlir::OpBuilder &builder, Value value, const States &states, PlacementAttr placement) {
    return create<ToGlobalOp>(builder, value.getLoc(), value, pinsOf(states, placement), mlir::StringAttr(),
                              mlir::ArrayAttr());
  }

  // What is done once a step belongs to the parameter, but for its place.
  static mlir::NamedAttrList onceFor(ParameterOp parameter, Operation *reader) {
    mlir::NamedAttrList belongings = belongingsOf(parameter);
    for (llvm::StringRef name : {"stage", "chunk"}) {
      belongings.erase(name);
      if (mlir::Attribute value = reader->getAttr(name)) {
        belongings.append(name, value);
      }
    }
    return belongings;
  }

  static Operation *firstOf(llvm::ArrayRef<mlir::OpOperand *> uses) {
    auto before = [](mlir::OpOperand *a, mlir::OpOperand *b) { return a->getOwner()->isBeforeInBlock(b->getOwner()); };
    return (*llvm::min_element(uses, before))->getOwner();
  }

  static void redirect(llvm::ArrayRef<mlir::OpOperand *> uses, Value to) {
    for (mlir::OpOperand *use : uses) {
      use->set(to);
    }
  }

  SmallVector<Average> averages_;
  llvm::DenseSet<Operation *> averaging_; // the ops that make them

  // ---- gradients ----------------------------------------------------------
  void pinSums(UpdateOpInterface update, SbpState state) {
    SmallVector<Value> work{update.getGradient()};
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (auto sum = llvm::dyn_cast_or_null<AccumulateOp>(op)) {
        pinSum(sum, state);
      } else if (op && shapeOf(op->getResult(0)) == shapeOf(update.getParameter())) {
        work.append(op->operand_begin(), op->operand_end());
      }
    }
  }

  void pinSum(AccumulateOp sum, SbpState state) {
    PlacementAttr placement = getOperation().getPlacement(stageOf(sum.getOperation()));
    int axis = axisOf(placement);
    if (axis < 0 || (state.isSplit() && shapeOf(sum)[state.dim] % placement.getSizes()[axis] != 0)) {
      return;
    }
    std::string text;
    llvm::raw_string_ostream(text) << state;
    mlir::NamedAttrList pins;
    pins.append(placement.getAxes()[axis], ExprAttr::get(&getContext(), text));
    sum.setPinsAttr(pins.getDictionary(&getContext()));
    if (state.isSplit()) {
      // As soon as may be, so that the whole gradient need not stay.
      sum->moveAfter(sum.getInput().getDefiningOp());
    }
  }
};

} // namespace
} // namespace weft::compiler
