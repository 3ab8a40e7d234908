#include "compiler/auto/layouts.h"

#include "absl/strings/str_cat.h"
#include "compiler/analysis/layer.h"
#include "compiler/analysis/repeats.h"
#include "compiler/passes/shard/passes.h"
#include "compiler/pipeline/diagnostics.h"
#include "mlir/Pass/PassManager.h"

namespace weft::compiler {
namespace {

// The axis that splits nothing unless parameters do.
constexpr llvm::StringLiteral kAxis("tensor");

// "h.1.mlp.c_fc.weight" of 48 layers, of which the one in the middle stands for all: "h.*.mlp.c_fc.weight". Empty: an
// other one stands for it.
std::string patternOf(llvm::StringRef name, mlir::ModuleOp module) {
  auto counts = module->getAttrOfType<mlir::DictionaryAttr>(kRepeatsName);
  auto most = module->getAttrOfType<mlir::IntegerAttr>(kMostRepeatsName);
  llvm::StringRef layer = layerOf(name);
  auto [repeat, number] = layer.rsplit('.');
  int64_t index = 0;
  if (!counts || !most || !counts.get(repeat) || number.getAsInteger(10, index)) {
    return name.str();
  }
  return index == most.getInt() / 2 ? (repeat + ".*" + name.drop_front(layer.size())).str() : "";
}

Pin pinOf(const std::string &parameter, const std::string &state) {
  Pin pin;
  pin.set_parameter(parameter);
  pin.set_axis(kAxis.str());
  pin.set_state(state);
  return pin;
}

// All whole, but for those that are named.
std::vector<Pin> pinsOf(ir::GraphOp graph, mlir::ModuleOp module) {
  std::vector<Pin> pins = {pinOf("*", "B")};
  for (auto parameter : graph.getBody().getOps<ir::ParameterOp>()) {
    const std::string pattern = patternOf(parameter.getName(), module);
    if (parameter.getState() || parameter.getPinned() || pattern.empty()) {
      continue;
    }
    ir::PlacementAttr mesh = graph.getPlacement(ir::stageOf(parameter.getResult()));
    for (auto [axis, state] : llvm::zip(mesh.getAxes(), ir::sbpOf(parameter.getResult().getType()).getStates())) {
      if (axis.getValue() == kAxis && state.isSplit()) {
        std::string text;
        llvm::raw_string_ostream(text) << state;
        pins.push_back(pinOf(pattern, text));
      }
    }
  }
  return pins;
}

// What will be shared out, and among how many ranks.
int64_t zeroRanksOf(const Job &job) { return job.zero().group() > 0 ? job.zero().group() : job.dist().data(); }

} // namespace

absl::StatusOr<std::vector<Pin>> Layouts::find(const Job &job, double limit, double inFlight) {
  Job open = job;
  // No pin of the model counts; and the axis is one that the model uses.
  *open.mutable_graph()->add_pin() = pinOf("*", "B");
  std::string error;
  mlir::ScopedDiagnosticHandler quiet(shallow_.getContext(), [&](mlir::Diagnostic &diagnostic) {
    error = error.empty() ? diagnostic.str() : error;
    return mlir::success();
  });
  Lowering lowering{open, mlir::OwningOpRef<mlir::ModuleOp>(shallow_.clone()), {}};
  for (Phase phase : {Phase::Elaborate, Phase::Pipeline, Phase::Autodiff, Phase::Precision, Phase::Pad}) {
    if (failed(runPhase(lowering, phase, cluster_, candidates_)))
      return absl::InvalidArgumentError(error);
  }
  const std::vector<std::string> axes = {kAxis.str()};
  ShardInferOptions options;
  options.rings = llvm::StringRef(Ring_Name(job.graph().ring())).lower();
  options.free = axes;
  options.limit = limit;
  options.zeroStage = job.zero().stage();
  options.zeroRanks = zeroRanksOf(job);
  options.inFlight = inFlight;
  mlir::PassManager manager(shallow_.getContext());
  manager.addNestedPass<ir::GraphOp>(createShardInfer(options));
  if (failed(manager.run(*lowering.module)))
    return absl::InvalidArgumentError(error);
  return pinsOf(*lowering.module->getOps<ir::GraphOp>().begin(), *lowering.module);
}

} // namespace weft::compiler
