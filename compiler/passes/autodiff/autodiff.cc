// Reverse-mode differentiation of a graph, op by op.
#include "compiler/passes/autodiff/passes.h"
#include "llvm/ADT/MapVector.h"
#include "ops/constant/ops.h"
#include "ops/elementwise/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_AUTODIFF
#include "compiler/passes/autodiff/Passes.h.inc"
namespace {

using namespace weft::ir;

// Gives every op that a gradient builds the scope, stage and chunk of its forward op.
class ScopeListener : public mlir::RewriterBase::Listener {
public:
  void setForward(Operation *op) {
    belongings_ = belongingsOf(op);
    forward_ = op;
  }
  void notifyOperationInserted(Operation *op, mlir::OpBuilder::InsertPoint) override {
    // What is built before the forward op belongs to it: a replacement with
    // more results, or values that forward and backward share.
    bool forward = forward_ && op->isBeforeInBlock(forward_);
    setBelongings(op, belongings_);
    if (!forward) {
      setPhase(op, OpPhase::Backward);
    }
  }

  // The op has been replaced: what is built from now on stands behind it.
  void notifyOperationErased(Operation *op) override {
    if (op == forward_) {
      forward_ = nullptr;
    }
  }

private:
  mlir::NamedAttrList belongings_;
  Operation *forward_ = nullptr;
};

class Differentiator {
public:
  // Of a graph that minimizes something.
  Differentiator(GraphOp graph, llvm::ArrayRef<MinimizeOp> minimizes, const AutodiffOptions &options)
      : graph_(graph), minimizes_(minimizes), minimize_(minimizes.back()), options_(options),
        rewriter_(graph.getContext(), &listener_) {}

  llvm::LogicalResult run() {
    if (failed(markOfStep())) {
      return mlir::failure();
    }
    markActive();
    llvm::SmallVector<Operation *> forward;
    for (Operation &op : *graph_.getBody().begin()) {
      if (&op == minimize_.getOperation()) {
        break;
      }
      if (!llvm::isa<MinimizeOp>(op)) {
        forward.push_back(&op);
      }
    }
    for (MinimizeOp minimize : minimizes_) {
      if (failed(beginAt(minimize))) {
        return mlir::failure();
      }
    }
    llvm::SmallVector<ParameterOp> parameters;
    for (Operation *op : llvm::reverse(forward)) {
      if (auto parameter = llvm::dyn_cast<ParameterOp>(op)) {
        parameters.push_back(parameter);
      } else if (failed(differentiate(op))) {
        return mlir::failure();
      }
    }
    return finish(parameters);
  }

private:
  // A number that belongs to `minimize`.
  Value fill(MinimizeOp minimize, double value) {
    return create<FillOp>(rewriter_, minimize.getLoc(), rewriter_.getArrayAttr({}), rewriter_.getF64FloatAttr(value),
                          mlir::TypeAttr());
  }

  Value scaled(Value value, double factor) {
    return factor == 1
               ? value
               : create<ScaleOp>(rewriter_, value.getLoc(), value, rewriter_.getF64FloatAttr(factor)).getResult();
  }

  static double weightOf(MinimizeOp minimize) {
    return minimize.getWeightAttr() ? floatOf(minimize.getWeightAttr()) : 1;
  }

  bool isUneven() const { return options_.batch % options_.microBatch != 0; }

  // What a loss is divided by, of one micro-batch.
  Value countOf(MinimizeOp minimize) {
    if (minimize.getCount()) {
      return minimize.getCount();
    }
    return fill(minimize, minimize.getRowsAttr() ? floatOf(minimize.getRowsAttr()) : 1);
  }

  // The same where it is said before the run.
  std::optional<double> rowsOf(MinimizeOp minimize) const {
    if (minimize.getRowsAttr()) {
      return floatOf(minimize.getRowsAttr());
    }
    return minimize.getCount() || isUneven() ? std::nullopt : std::optional<double>(1);
  }

  // The backward begins with 1 for the first loss, and with the ratio of the first count to its own for another: what
  // is divided by the sum of the first counts, after all micro-batches, is then each loss by its own count.
  llvm::LogicalResult beginAt(MinimizeOp minimize) {
    if (!active_.contains(minimize.getLoss())) {
      return minimize.emitOpError("expected a loss that depends on a parameter");
    }
    if (minimize.getRowsAttr() && !minimize.getCount() && isUneven()) {
      return minimize.emitOpError("rows: expected a count too, as the last micro-batch has fewer samples");
    }
    rewriter_.setInsertionPoint(minimize_);
    listener_.setForward(minimize);
    Value seed = fill(minimize, 1);
    seed.getDefiningOp()->setAttr("loss_seed", rewriter_.getUnitAttr()); // what a loss scale replaces
    double factor = weightOf(minimize);
    MinimizeOp first = minimizes_.front();
    bool isOneCount = minimize.getCount() == first.getCount() &&
                      (minimize.getCount() || minimize.getRowsAttr() == first.getRowsAttr());
    if (!isOneCount) {
      std::optional<double> own = rowsOf(minimize), ofFirst = rowsOf(first);
      if (own && ofFirst) {
        factor *= *ofFirst / *own;
      } else if (options_.batch <= options_.microBatch) {
        mlir::Location loc = minimize.getLoc();
        seed = create<MulOp>(rewriter_, loc, seed, create<DivOp>(rewriter_, loc, countOf(first), countOf(minimize)));
      } else {
        return minimize.emitOpError("expected losses of one count, or rows(number) on each, as the step has several "
                                    "micro-batches; with batch.micro = batch.global it has one");
      }
    }
    addGradient(minimize.getLoss(), scaled(seed, factor));
    return mlir::success();
  }

  // An op is of the step if it is made of sums over the micro-batches. A sum is whole behind the last of them alone, so
  // nothing that is summed itself may be made of one.
  llvm::LogicalResult markOfStep() {
    for (Operation &op : *graph_.getBody().begin()) {
      bool ofStep = llvm::any_of(op.getOperands(), [&](Value v) { return isOfStep(v); });
      if (ofStep && llvm::isa<AccumulateOp, MinimizeOp>(op)) {
        return op.emitOpError("expected a value that each micro-batch makes, got one made of a weft.accumulate, which "
                              "is there once a step");
      }
      if (ofStep || llvm::isa<AccumulateOp>(op)) {
        ofStep_.insert(&op);
      }
    }
    return mlir::success();
  }
  bool isOfStep(Value value) const { return ofStep_.contains(value.getDefiningOp()); }

  // A value is active if it depends on a parameter through differentiable ops.
  void markActive() {
    for (Operation &op : *graph_.getBody().begin()) {
      auto parameter = llvm::dyn_cast<ParameterOp>(op);
      bool active = (parameter && !parameter.getState()) ||
                    (!llvm::isa<StopGradientOp>(op) &&
                     llvm::any_of(op.getOperands(), [&](Value v) { return active_.contains(v); }));
      for (Value result : op.getResults()) {
        if (active && llvm::isa<mlir::FloatType>(tensorOf(result).getElementType())) {
          active_.insert(result);
        }
      }
    }
  }

  void addGradient(Value value, Value gradient) {
    if (gradient && active_.contains(value)) {
      pending_[value].push_back(gradient);
    }
  }

  // The sum of what flowed back to a value, or null.
  Value takeGradient(Value value) {
    auto it = pending_.find(value);
    if (it == pending_.end()) {
      return {};
    }
    // Other chunks sum their own parts first: one gradient of each is sent.
    llvm::SmallVector<Value> sums;
    for (auto &[chunk, parts] : byChunk(it->second)) {
      Operation *first = parts[0].getDefiningOp();
      sums.push_back(sumOf(value.getLoc(), parts));
      if (parts.size() > 1 && chunk != chunkOf(value.getDefiningOp())) {
        setBelongings(sums.back().getDefiningOp(), belongingsOf(first));
      }
    }
    pending_.erase(it);
    return sumOf(value.getLoc(), sums);
  }

  static llvm::MapVector<int64_t, llvm::SmallVector<Value>> byChunk(llvm::ArrayRef<Value> values) {
    llvm::MapVector<int64_t, llvm::SmallVector<Value>> parts;
    for (Value value : values) {
      parts[chunkOf(value.getDefiningOp())].push_back(value);
    }
    return parts;
  }

  Value sumOf(mlir::Location loc, llvm::ArrayRef<Value> parts) {
    if (parts.size() == 1) {
      return parts[0];
    }
    if (parts.size() == 2) {
      return create<AddOp>(rewriter_, loc, parts[0], parts[1]);
    }
    return sumInOrder(rewriter_, loc, parts);
  }

  // The sum over the micro-batches of what flowed back to a parameter, or null. Chunks that share the
  // parameter each sum their own part first, so that what passes between them does so once a step.
  Value takeSum(ParameterOp parameter) {
    auto it = pending_.find(parameter.getResult());
    if (it == pending_.end()) {
      return {};
    }
    auto parts = byChunk(it->second);
    pending_.erase(it);
    llvm::SmallVector<Value> sums;
    for (auto &[chunk, ofChunk] : parts) {
      listener_.setForward(parts.size() > 1 ? ofChunk[0].getDefiningOp() : parameter.getOperation());
      sums.push_back(create<AccumulateOp>(rewriter_, parameter.getLoc(), sumOf(parameter.getLoc(), ofChunk),
                                          mlir::DictionaryAttr()));
    }
    listener_.setForward(parameter);
    return sumOf(parameter.getLoc(), sums);
  }

  llvm::LogicalResult differentiate(Operation *op) {
    listener_.setForward(op);
    rewriter_.setInsertionPoint(minimize_);
    llvm::SmallVector<Value> results, operandGradients;
    for (Value result : op->getResults()) {
      results.push_back(takeGradient(result));
    }
    if (llvm::none_of(results, [](Value v) { return bool(v); })) {
      return mlir::success();
    }
    auto differentiable = llvm::dyn_cast<DifferentiableOpInterface>(op);
    if (!differentiable) {
      return op->emitOpError("expected a differentiable op between a parameter and the loss");
    }
    llvm::SmallVector<Value> operands(op->getOperands());
    if (failed(differentiable.buildGradient(rewriter_, results, operandGradients))) {
      return mlir::failure();
    }
    assert(operands.size() == operandGradients.size() && "expected one gradient an operand");
    for (auto [operand, gradient] : llvm::zip(operands, operandGradients)) {
      addGradient(operand, gradient);
    }
    return mlir::success();
  }

  // A metric of the model: the mean over the micro-batches, unless it belongs to the step.
  void reportMean(OutputOp output) {
    listener_.setForward(output);
    if (isOfStep(output.getValue())) {
      return;
    }
    rewriter_.setInsertionPoint(output);
    mlir::Location loc = output.getLoc();
    Value sum = create<AccumulateOp>(rewriter_, loc, output.getValue(), mlir::DictionaryAttr());
    Value count = create<AccumulateOp>(rewriter_, loc, fill(minimize_, 1), mlir::DictionaryAttr());
    Value mean = create<DivOp>(rewriter_, loc, sum, count);
    rewriter_.create<OutputOp>(loc, output.getNameAttr(), output.getMetricAttr(), mean);
    rewriter_.eraseOp(output);
  }

  // The sum over the micro-batches.
  Value accumulated(Value value) {
    return create<AccumulateOp>(rewriter_, minimize_.getLoc(), value, mlir::DictionaryAttr());
  }

  // Reports what is minimized, and each loss that has a name; yields the sum of the first counts.
  Value reportLosses() {
    rewriter_.setInsertionPoint(minimize_);
    Value firstCount;
    llvm::SmallVector<Value> means;
    for (MinimizeOp minimize : minimizes_) {
      listener_.setForward(minimize);
      Value count = accumulated(countOf(minimize));
      Value mean = create<DivOp>(rewriter_, minimize.getLoc(), accumulated(minimize.getLoss()), count);
      if (minimize.getNameAttr()) {
        rewriter_.create<OutputOp>(minimize.getLoc(), minimize.getNameAttr(), rewriter_.getUnitAttr(), mean);
      }
      means.push_back(scaled(mean, weightOf(minimize)));
      firstCount = firstCount ? firstCount : count;
    }
    listener_.setForward(minimize_);
    rewriter_.create<OutputOp>(minimize_.getLoc(), rewriter_.getStringAttr("loss"), rewriter_.getUnitAttr(),
                               sumOf(minimize_.getLoc(), means));
    return firstCount;
  }

  // Sums over the micro-batches, one update a parameter, and the losses.
  llvm::LogicalResult finish(llvm::ArrayRef<ParameterOp> reversed) {
    for (OutputOp metric : llvm::to_vector(graph_.getBody().getOps<OutputOp>())) {
      if (metric.getMetric()) {
        reportMean(metric);
      }
    }
    Value countSum = reportLosses();
    for (ParameterOp parameter : llvm::reverse(reversed)) {
      Value sum = takeSum(parameter);
      if (!sum) {
        // One that only weft.stop_gradient reads is not meant to.
        const bool isFrozen =
            !parameter->use_empty() && llvm::all_of(parameter->getUsers(), llvm::IsaPred<StopGradientOp>);
        if (!parameter.getState() && !isFrozen) {
          parameter.emitWarning() << "parameter " << parameter.getName() << " does not influence the loss";
        }
        continue;
      }
      for (Operation *user : parameter.getResult().getUsers()) {
        if (auto assign = llvm::dyn_cast<AssignOp>(user); assign && assign.getTarget() == parameter.getResult()) {
          return assign.emitOpError() << "parameter " << parameter.getName()
                                      << ": expected one that the optimizer does not update, got one that influences "
                                         "the loss";
        }
      }
      rewriter_.create<UpdateOp>(parameter.getLoc(), parameter.getResult(), sum, countSum);
    }
    for (MinimizeOp minimize : minimizes_) {
      rewriter_.eraseOp(minimize);
    }
    return mlir::success();
  }

  GraphOp graph_;
  llvm::ArrayRef<MinimizeOp> minimizes_;
  MinimizeOp minimize_; // the last one, before which everything is built
  AutodiffOptions options_;
  ScopeListener listener_;
  mlir::IRRewriter rewriter_;
  llvm::DenseSet<Operation *> ofStep_;
  llvm::DenseSet<Value> active_;
  llvm::DenseMap<Value, llvm::SmallVector<Value>> pending_;
};

struct Autodiff : impl::AutodiffBase<Autodiff> {
  using AutodiffBase::AutodiffBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    auto minimizes = llvm::to_vector(graph.getBody().getOps<MinimizeOp>());
    if (minimizes.empty()) {
      return;
    }
    for (MinimizeOp minimize : minimizes) {
      if (minimizes.size() > 1 && !minimize.getNameAttr()) {
        minimize.emitOpError("expected a name, as the graph minimizes several losses: weft.minimize \"name\" %loss");
        return signalPassFailure();
      }
    }
    if (failed(Differentiator(graph, minimizes, {batch, microBatch}).run())) {
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace weft::compiler
