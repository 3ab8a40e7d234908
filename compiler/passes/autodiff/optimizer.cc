// From (parameter, gradient) pairs to the ops of an optimizer.
#include <map>

#include "compiler/passes/autodiff/names.h"
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
    if (failed(readRule()) || failed(readGroups(updates))) {
      return signalPassFailure();
    }
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointToEnd(&getOperation().getBody().front());
    if (failed(buildScalars(builder, updates))) {
      return signalPassFailure();
    }
    for (UpdateOp update : updates) {
      if (failed(replace(builder, update))) {
        return signalPassFailure();
      }
      update.erase();
    }
  }

private:
  // "beta1=0.9"
  llvm::LogicalResult readNumber(llvm::StringRef key, llvm::StringRef number, llvm::StringMap<double> &into) {
    auto [name, text] = number.split('=');
    double value = 0;
    if (text.getAsDouble(value)) {
      return getOperation().emitOpError() << key << ": expected a name=number, got " << number;
    }
    into[name] = value;
    return mlir::success();
  }

  // What groups say of each parameter, the last of them over what others say.
  llvm::LogicalResult readGroups(llvm::ArrayRef<UpdateOp> updates) {
    ofParameter.clear();
    auto parameters = llvm::map_to_vector(
        updates, [](UpdateOp update) { return update.getParameter().getDefiningOp<ParameterOp>(); });
    for (llvm::StringRef group : groups) {
      auto [said, pattern] = group.split(':');
      llvm::StringMap<double> ofGroup;
      for (llvm::StringRef number : llvm::split(said, ' ')) {
        if (failed(readNumber("groups", number, ofGroup))) {
          return mlir::failure();
        }
      }
      auto found = fitting("optimizer.groups", pattern, parameters, getOperation());
      if (failed(found)) {
        return mlir::failure();
      }
      for (ParameterOp parameter : *found) {
        for (const auto &number : ofGroup) {
          ofParameter[parameter][number.first()] = number.second;
        }
      }
    }
    return mlir::success();
  }

  llvm::LogicalResult readRule() {
    for (llvm::StringRef number : numbers) {
      if (failed(readNumber("numbers", number, ofRule))) {
        return mlir::failure();
      }
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

  llvm::LogicalResult buildScalars(mlir::OpBuilder &b, llvm::SmallVectorImpl<UpdateOp> &updates) {
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
    llvm::StringMap<std::string> ofSchedule;
    for (llvm::StringRef said : scheduleNumbers) {
      auto [name, text] = said.split('=');
      ofSchedule[name] = text.str();
    }
    llvm::FailureOr<LearningRateOp> rate = buildLearningRate(b, loc, lr, schedule, ofSchedule);
    if (failed(rate)) {
      return mlir::failure();
    }
    learningRate = tag(*rate);
    scaledRates.clear();
    auto metric = [&](llvm::StringRef name, Value value) {
      tag(b.create<OutputOp>(loc, b.getStringAttr(name), b.getUnitAttr(), value));
    };
    metric("grad_norm", clip->getResult(1));
    metric("lr", learningRate);
    return mlir::success();
  }

  // The learning rate of a group.
  Value scaledRate(mlir::OpBuilder &b, double scale) {
    if (scale == 1) {
      return learningRate;
    }
    Value &made = scaledRates[scale];
    if (!made) {
      made = tag(create<ScaleOp>(b, learningRate.getLoc(), learningRate, number(scale)));
    }
    return made;
  }

  // State of the optimizer for one parameter, of the same pins and, where it has the same shape, stored shape. An
  // extent of 1 in the place of a larger one stays whole.
  Value state(mlir::OpBuilder &b, ParameterOp parameter, llvm::StringRef prefix, llvm::ArrayRef<int64_t> shape) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(parameter);
    auto op = llvm::cast<ParameterOp>(b.clone(*parameter));
    op.setName((prefix + "." + parameter.getName()).str());
    op.setInitAttr(InitAttr::get(&getContext(), "zeros", {}));
    op.setState(true);
    op.removeSeedAttr();
    if (shape != shapeOf(parameter.getResult())) {
      setShapeAttribute(op, shape);
      op.removeStoredAttr();
      op.getResult().setType(mlir::RankedTensorType::get(shape, tensorOf(parameter.getResult()).getElementType()));
      dropPins(op);
    }
    return op.getResult();
  }

  // Those of dimensions of size 1.
  static void dropPins(ParameterOp op) {
    mlir::DictionaryAttr all = op.getPinsAttr();
    if (!all) {
      return;
    }
    mlir::NamedAttrList pins;
    for (mlir::NamedAttribute pin : all) {
      int64_t dim = -1;
      llvm::StringRef text = llvm::cast<ExprAttr>(pin.getValue()).getText();
      bool isSplit = text.consume_front("S(") && !text.consumeInteger(10, dim);
      if (!isSplit || shapeOf(op.getResult())[dim] != 1) {
        pins.push_back(pin);
      }
    }
    op.setPinsAttr(pins.getDictionary(op.getContext()));
  }

  llvm::LogicalResult replace(mlir::OpBuilder &b, UpdateOp update) {
    auto parameter = update.getParameter().getDefiningOp<ParameterOp>();
    Value p = update.getParameter();
    const bool isVector = !matrixViewOf(parameter).isMatrix();
    const llvm::StringMap<double> &own = ofParameter[parameter];
    const bool asVector = made->ofVectors && (isVector || own.lookup("adamw") != 0);
    const UpdateRule &rule = asVector ? *made->ofVectors : *made;
    llvm::SmallVector<Value> operands{p, update.getGradient()};
    for (auto [prefix, shape] : llvm::zip(rule.state, stateShapes(rule, parameter))) {
      operands.push_back(state(b, parameter, prefix, shape));
    }
    operands.append({scaledRate(b, own.contains("lr_scale") ? own.lookup("lr_scale") : 1), gradScale});
    llvm::StringMap<double> here = ofRule;
    if (rule.sparesVectors && isVector) {
      here["weight_decay"] = 0;
    }
    if (own.contains("weight_decay")) {
      here["weight_decay"] = own.lookup("weight_decay");
    }
    llvm::FailureOr<UpdateOpInterface> op = buildUpdate(b, update.getLoc(), rule, here, operands);
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
  llvm::DenseMap<Operation *, llvm::StringMap<double>> ofParameter; // what groups say
  std::map<double, Value> scaledRates;
  Value gradScale, learningRate;
};

} // namespace
} // namespace weft::compiler
