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
  Differentiator(GraphOp graph, MinimizeOp minimize)
      : graph_(graph), minimize_(minimize), rewriter_(graph.getContext(), &listener_) {}

  llvm::LogicalResult run() {
    markActive();
    if (!active_.contains(minimize_.getLoss())) {
      return minimize_.emitOpError("expected a loss that depends on a parameter");
    }
    mlir::Location loc = minimize_.getLoc();
    rewriter_.setInsertionPoint(minimize_);
    listener_.setForward(minimize_);
    Value one = fill(1.0);
    one.getDefiningOp()->setAttr("loss_seed", rewriter_.getUnitAttr()); // what a loss scale replaces
    addGradient(minimize_.getLoss(), one);
    llvm::SmallVector<Operation *> forward;
    for (Operation &op : *graph_.getBody().begin()) {
      if (&op == minimize_.getOperation() || &op == one.getDefiningOp()) {
        break;
      }
      forward.push_back(&op);
    }
    llvm::SmallVector<ParameterOp> parameters;
    for (Operation *op : llvm::reverse(forward)) {
      if (auto parameter = llvm::dyn_cast<ParameterOp>(op)) {
        parameters.push_back(parameter);
      } else if (failed(differentiate(op))) {
        return mlir::failure();
      }
    }
    listener_.setForward(minimize_);
    return finish(loc, parameters);
  }

private:
  Value fill(double value) {
    return create<FillOp>(rewriter_, minimize_.getLoc(), rewriter_.getArrayAttr({}), rewriter_.getF64FloatAttr(value),
                          mlir::TypeAttr());
  }

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

  // A metric of the model: the mean over the micro-batches.
  void reportMean(OutputOp output) {
    listener_.setForward(output);
    rewriter_.setInsertionPoint(output);
    mlir::Location loc = output.getLoc();
    Value sum = create<AccumulateOp>(rewriter_, loc, output.getValue(), mlir::DictionaryAttr());
    Value count = create<AccumulateOp>(rewriter_, loc, fill(1.0), mlir::DictionaryAttr());
    Value mean = create<DivOp>(rewriter_, loc, sum, count);
    rewriter_.create<OutputOp>(loc, output.getNameAttr(), output.getMetricAttr(), mean);
    rewriter_.eraseOp(output);
  }

  // Sums over the micro-batches, one update a parameter, and the loss.
  llvm::LogicalResult finish(mlir::Location loc, llvm::ArrayRef<ParameterOp> reversed) {
    for (OutputOp metric : llvm::to_vector(graph_.getBody().getOps<OutputOp>())) {
      if (metric.getMetric()) {
        reportMean(metric);
      }
    }
    listener_.setForward(minimize_);
    rewriter_.setInsertionPoint(minimize_);
    Value count = minimize_.getCount() ? minimize_.getCount() : fill(1.0);
    Value countSum = create<AccumulateOp>(rewriter_, loc, count, mlir::DictionaryAttr());
    Value lossSum = create<AccumulateOp>(rewriter_, loc, minimize_.getLoss(), mlir::DictionaryAttr());
    Value mean = create<DivOp>(rewriter_, loc, lossSum, countSum);
    rewriter_.create<OutputOp>(loc, rewriter_.getStringAttr("loss"), rewriter_.getUnitAttr(), mean);
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
    rewriter_.eraseOp(minimize_);
    return mlir::success();
  }

  GraphOp graph_;
  MinimizeOp minimize_;
  ScopeListener listener_;
  mlir::IRRewriter rewriter_;
  llvm::DenseSet<Value> active_;
  llvm::DenseMap<Value, llvm::SmallVector<Value>> pending_;
};

struct Autodiff : impl::AutodiffBase<Autodiff> {
  void runOnOperation() override {
    GraphOp graph = getOperation();
    auto minimizes = llvm::to_vector(graph.getBody().getOps<MinimizeOp>());
    if (minimizes.empty()) {
      return;
    }
    if (minimizes.size() > 1) {
      minimizes[1].emitOpError("expected one weft.minimize in a graph, got another");
      return signalPassFailure();
    }
    if (failed(Differentiator(graph, minimizes[0]).run())) {
      return signalPassFailure();
    }
  }
};

} // namespace
} // namespace weft::compiler
