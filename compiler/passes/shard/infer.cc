// SBP inference of a graph whose ops have stages, but no states yet:
//
//   pins ─▶ for each stage, for each axis of its mesh, outermost first: one labelling problem (inference.h) ─▶ types ─▶
//   boxes
//
// An axis is decided on the tiles that the axes before it leave.
#include "compiler/analysis/boxing.h"
#include "compiler/passes/shard/first_readers.h"
#include "compiler/passes/shard/inference.h"
#include "compiler/passes/shard/passes.h"
#include "llvm/ADT/StringSwitch.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SHARDINFER
#include "compiler/passes/shard/Passes.h.inc"
namespace {

using namespace weft::ir;

// What a step with rings may take of what it takes without, where only a later axis gains by them: they are many more
// ops, and take longer to compile. With 32k tokens on 8 x 8 ranks Llama 8B takes 0.78 of it; with 2k tokens there is
// nothing to gain.
constexpr double kWorthRings = 0.98;

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
    Routes routes(machine_);
    routes_ = &routes;
    const std::optional<Rings> allowed = llvm::StringSwitch<std::optional<Rings>>(rings)
                                             .Case("cheaper", Rings::Cheaper)
                                             .Case("always", Rings::Always)
                                             .Case("never", Rings::Never)
                                             .Default(std::nullopt);
    if (!allowed) {
      graph.emitOpError() << "rings: expected cheaper, always or never, got " << rings;
      return signalPassFailure();
    }
    std::unique_ptr<Inference> found = inferWith(*allowed);
    if (!found) {
      return signalPassFailure();
    }
    if (*allowed == Rings::Cheaper && !broadcast && found->mayGainFromRings()) {
      mlir::ScopedDiagnosticHandler quiet(&getContext(), [](mlir::Diagnostic &) { return mlir::success(); });
      std::unique_ptr<Inference> around = inferWith(Rings::Always);
      if (around && around->seconds() < kWorthRings * found->seconds()) {
        found = std::move(around);
      }
    }
    Inference &inference = *found;
    // What each op wants of its operands, before types and operands change.
    SmallVector<SmallVector<SbpAttr>> wanted;
    llvm::DenseMap<Value, SbpAttr> made;
    for (OpInfo &info : inference.ops()) {
      SmallVector<SbpAttr> &row = wanted.emplace_back();
      for (unsigned i = 0; i < info.op->getNumOperands(); ++i) {
        row.push_back(SbpAttr::get(&getContext(), Inference::wanted(info, i)));
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
        boxOperand(graph, inference, info, unsigned(i), sbp);
      }
    }
    for (auto global : llvm::make_early_inc_range(graph.getBody().getOps<ToGlobalOp>())) {
      global.replaceAllUsesWith(global.getInput());
      global.erase();
    }
    moveToFirstReaders(graph);
  }

private:
  // Null where no signature fits an op: an error says which.
  std::unique_ptr<Inference> inferWith(Rings rings) {
    auto inference = std::make_unique<Inference>(
        getOperation(), machine_, broadcast, rings,
        FreeParameters{std::vector<std::string>(free.begin(), free.end()), limit, zeroStage, zeroRanks, inFlight});
    return succeeded(inference->run()) ? std::move(inference) : nullptr;
  }

  // Makes operand `i` arrive with `sbp`: itself, a box that an earlier reader
  // has, or a new one from where it is cheapest.
  void boxOperand(GraphOp graph, const Inference &inference, OpInfo &info, unsigned i, SbpAttr sbp) {
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
    mlir::Location at = info.op->getLoc();
    if (from == info.stage) {
      at = withNextBests(at, inference.nextBestsOf(value, sbp.getStates()));
    }
    auto box = builder.create<BoxOp>(at, withSbp(tensorOf(value), sbp), source);
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
    auto seconds = [&](Value source) {
      double sum = 0;
      for (const BoxStep &step : routes_->find(sbpOf(source.getType()).getStates(), sbp.getStates(), type, sizes)) {
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
  Routes *routes_ = nullptr; // of the graph that the pass runs on
  llvm::DenseMap<std::pair<Value, int64_t>, SmallVector<Value>> boxes_;
};

} // namespace
} // namespace weft::compiler
