// From (parameter, gradient) pairs to the ops of an optimizer.
#include "compiler/passes/autodiff/passes.h"
#include "llvm/ADT/MapVector.h"
#include "ops/elementwise/ops.h"
#include "ops/optimizer/ops.h"

namespace weft::compiler {
#define GEN_PASS_DEF_AUTODIFFOPTIMIZER
#include "compiler/passes/autodiff/Passes.h.inc"
namespace {

using namespace weft::ir;

struct AutodiffOptimizer : impl::AutodiffOptimizerBase<AutodiffOptimizer> {
  using AutodiffOptimizerBase::AutodiffOptimizerBase;

  void runOnOperation() override {
    auto updates = llvm::to_vector(getOperation().getBody().getOps<UpdateOp>());
    if (updates.empty()) {
      return;
    }
    if (failed(readRule())) {
      return signalPassFailure();
    }
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointToEnd(&getOperation().getBody().front());
    buildScalars(builder, updates);
    for (UpdateOp update : updates) {
      if (failed(replace(builder, update))) {
        return signalPassFailure();
      }
      update.erase();
    }
  }

private:
  llvm::LogicalResult readRule() {
    for (llvm::StringRef number : numbers) {
      auto [name, text] = number.split('=');
      double value = 0;
      if (text.getAsDouble(value)) {
        return getOperation().emitOpError() << "numbers: expected a name=number, got " << number;
      }
      ofRule[name] = value;
    }
    made = findUpdateRule(&getContext(), rule, ofRule);
    if (made) {
      return mlir::success();
    }
    std::vector<llvm::StringRef> names;
    for (const UpdateRule &known : updateRules(&getContext())) {
      if (!llvm::is_contained(names, known.name)) {
        names.push_back(known.name);
      }
    }
    mlir::InFlightDiagnostic error = getOperation().emitOpError()
                                     << "rule: expected one of " << llvm::join(names, ", ");
    if (!llvm::is_contained(names, rule)) {
      return error << ", got " << rule;
    }
    return error << " that takes " << llvm::join(numbers, ", ") << ", got " << rule;
  }

  mlir::FloatAttr number(double value) { return mlir::FloatAttr::get(mlir::Float64Type::get(&getContext()), value); }

  // Everything built here happens once a step; what belongs to one parameter, where that lives.
  template <typename Op> Op tag(Op op, UpdateOp update = {}) {
    op->setAttr("scope", mlir::StringAttr::get(&getContext(), "optimizer"));
    setPhase(op, OpPhase::Update);
    for (llvm::StringRef name : {"stage", "chunk"}) {
      if (mlir::Attribute value = update ? update->getAttr(name) : mlir::Attribute()) {
        op->setAttr(name, value);
      }
    }
    return op;
  }

  void buildScalars(mlir::OpBuilder &b, llvm::SmallVectorImpl<UpdateOp> &updates) {
    mlir::Location loc = getOperation().getLoc();
    // Stages sum their own first: one scalar of each is sent.
    llvm::MapVector<int64_t, llvm::SmallVector<Value>> squares;
    llvm::MapVector<int64_t, UpdateOp> first;
    for (UpdateOp update : updates) {
      Value square = tag(create<SquareSumOp>(b, update.getLoc(), update.getGradient()), update);
      squares[stageOf(update)].push_back(square);
      first.insert({stageOf(update), update});
    }
    llvm::SmallVector<Value> sums;
    for (auto &[stage, ofStage] : squares) {
      UpdateOp there = first.lookup(stage);
      sums.push_back(sumInOrder(b, loc, ofStage, [&](Operation *op) { tag(op, there); }));
    }
    Value sum = sumInOrder(b, loc, sums, [&](Operation *op) { tag(op); });
    auto clip = tag(create<ClipScaleOp, 2>(b, loc, sum, updates[0].getCount(), Value(), number(clipNorm)));
    gradScale = clip->getResult(0);
    learningRate =
        tag(create<LearningRateOp>(b, loc, number(lr), b.getStringAttr(schedule), b.getI64IntegerAttr(warmup),
                                   b.getI64IntegerAttr(int64_t(total)), number(minRatio)));
    auto metric = [&](llvm::StringRef name, Value value) {
      tag(b.create<OutputOp>(loc, b.getStringAttr(name), b.getUnitAttr(), value));
    };
    metric("grad_norm", clip->getResult(1));
    metric("lr", learningRate);
  }

  // State of the optimizer for one parameter: same shape, pins and stored shape.
  Value state(mlir::OpBuilder &b, ParameterOp parameter, llvm::StringRef prefix) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(parameter);
    auto op = llvm::cast<ParameterOp>(b.clone(*parameter));
    op.setName((prefix + "." + parameter.getName()).str());
    op.setInitAttr(InitAttr::get(&getContext(), "zeros", {}));
    op.setState(true);
    op.removeSeedAttr();
    return op.getResult();
  }

  llvm::LogicalResult replace(mlir::OpBuilder &b, UpdateOp update) {
    auto parameter = update.getParameter().getDefiningOp<ParameterOp>();
    Value p = update.getParameter();
    llvm::SmallVector<Value> operands{p, update.getGradient()};
    for (llvm::StringRef prefix : made->state) {
      operands.push_back(state(b, parameter, prefix));
    }
    operands.append({learningRate, gradScale});
    llvm::StringMap<double> here = ofRule;
    bool vector = parameter.getStored() ? parameter.getStored()->size() < 2 : tensorOf(p).getRank() < 2;
    if (made->sparesVectors && vector) {
      here["weight_decay"] = 0;
    }
    llvm::FailureOr<UpdateOpInterface> op = buildUpdate(b, update.getLoc(), *made, here, operands);
    if (failed(op)) {
      return mlir::failure();
    }
    tag(*op, update);
    auto assign = [&](Value target, Value value) { tag(b.create<AssignOp>(update.getLoc(), target, value), update); };
    assign(p, (*op)->getResult(0));
    for (auto [kept, next] : llvm::zip(op->getState(), (*op)->getResults().drop_front())) {
      assign(kept, next);
    }
    return mlir::success();
  }

  std::optional<UpdateRule> made;
  llvm::StringMap<double> ofRule;
  Value gradScale, learningRate;
};

} // namespace
} // namespace weft::compiler
