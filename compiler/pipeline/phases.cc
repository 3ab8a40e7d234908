#include "compiler/pipeline/phases.h"

#include <fstream>

#include "absl/strings/str_cat.h"
#include "compiler/passes/autodiff/passes.h"
#include "compiler/passes/box/passes.h"
#include "compiler/passes/elaborate/passes.h"
#include "compiler/passes/fuse/passes.h"
#include "compiler/passes/localize/passes.h"
#include "compiler/passes/memory/passes.h"
#include "compiler/passes/pipeline/passes.h"
#include "compiler/passes/precision/passes.h"
#include "compiler/passes/recompute/passes.h"
#include "compiler/passes/schedule/passes.h"
#include "compiler/passes/shard/passes.h"
#include "compiler/passes/zero/passes.h"
#include "mlir/Transforms/Passes.h"

namespace weft::compiler {
namespace {

constexpr std::pair<Phase, const char *> kNames[] = {
    {Phase::Elaborate, "elaborate"},
    {Phase::Pipeline, "pipeline"},
    {Phase::Autodiff, "autodiff"},
    {Phase::Precision, "precision"},
    {Phase::Zero, "zero"},
    {Phase::Shard, "shard"},
    {Phase::Box, "box"},
    {Phase::Recompute, "recompute"},
    {Phase::Localize, "localize"},
    {Phase::Fuse, "fuse"},
    {Phase::Schedule, "schedule"},
    {Phase::Memory, "memory"},
};

// The ranks of a mesh's data parallelism that split what ZeRO splits, if these are some of them; else 1.
int64_t shardOf(const Job &job, const Dist &mesh) {
  int64_t group = job.zero().stage() > 0 ? job.zero().group() : 0;
  return group > 1 && group < mesh.data() ? group : 1;
}

void buildElaborate(mlir::OpPassManager &manager, const Job &job, const Machine &machine) {
  ElaborateOptions options;
  options.device = machine.device;
  for (const std::string &set : job.model().set()) {
    options.set.push_back(set);
  }
  options.batch = job.batch().micro();
  options.graph = job.model().graph();
  // Where stages have meshes of their own, pins are read for the axes of any.
  const Dist *widest = job.pipeline().stages().empty() ? &job.dist() : &job.pipeline().stages(0);
  auto size = [&](int64_t (Dist::*axis)() const) {
    int64_t most = (widest->*axis)();
    for (const Dist &stage : job.pipeline().stages()) {
      most = std::max(most, (stage.*axis)());
      widest = stage.data() > widest->data() ? &stage : widest;
    }
    return most;
  };
  options.data = size(&Dist::data);
  options.shard = shardOf(job, *widest);
  options.data = options.data / options.shard;
  options.expert = size(&Dist::expert);
  options.context = size(&Dist::context);
  options.tensor = size(&Dist::tensor);
  options.microBatches = job.batch().global() / job.batch().micro();
  buildElaboratePipeline(manager, options);
}

bool isVShaped(const Pipeline &pipeline) {
  return pipeline.schedule() == ZERO_BUBBLE && pipeline.form() == V && pipeline.schedule_file().empty();
}

// Whether a stage's order has units for the weight part of a backward.
bool splitsBackward(const Pipeline &pipeline) {
  if (pipeline.schedule_file().empty()) {
    return pipeline.schedule() == ZERO_BUBBLE;
  }
  std::ifstream file(pipeline.schedule_file());
  for (std::string line; std::getline(file, line);) {
    if (line.substr(0, line.find('#')).find('W') != std::string::npos) {
      return true;
    }
  }
  return false;
}

// The options refer to lists, which live until the pass has copied them.
void buildCut(mlir::OpPassManager &manager, const Job &job, const Machine &machine) {
  PipelineCutOptions options;
  options.stages = job.dist().pipeline();
  options.chunks = std::max<int64_t>(job.pipeline().chunks(), 1);
  options.vShape = isVShaped(job.pipeline());
  std::vector<std::string> cuts(job.pipeline().cuts().begin(), job.pipeline().cuts().end());
  options.cuts = cuts;
  std::vector<std::string> meshes;
  for (const Dist &stage : job.pipeline().stages()) {
    int64_t shard = shardOf(job, stage);
    meshes.push_back(
        absl::StrCat(stage.data() / shard, ":", shard, ":", stage.expert(), ":", stage.context(), ":", stage.tensor()));
  }
  options.meshes = meshes;
  options.machine = describe(machine);
  manager.addNestedPass<ir::GraphOp>(createPipelineCut(options));
}

ScheduleUnitsOptions unitsOptions(const Pipeline &pipeline) {
  ScheduleUnitsOptions options;
  switch (pipeline.schedule()) {
  case GPIPE:
    options.schedule = "gpipe";
    break;
  case INTERLEAVED:
    options.schedule = "interleaved";
    break;
  case ZERO_BUBBLE:
    options.schedule = pipeline.form() == V ? "zero-bubble-v" : "zero-bubble-h1";
    break;
  default:
    options.schedule = "1f1b";
  }
  options.chunks = std::max<int64_t>(pipeline.chunks(), 1);
  options.file = pipeline.schedule_file();
  return options;
}

AutodiffOptimizerOptions optimizerOptions(const Optimizer &optimizer) {
  AutodiffOptimizerOptions options;
  options.clipNorm = optimizer.clip_norm();
  if (optimizer.has_sgd()) {
    options.rule = "sgd";
    options.lr = optimizer.sgd().lr();
    options.momentum = optimizer.sgd().momentum();
    options.weightDecay = optimizer.sgd().weight_decay();
  } else {
    const Adam &adam = optimizer.has_adam() ? optimizer.adam() : optimizer.adamw();
    options.rule = optimizer.has_adam() ? "adam" : "adamw";
    options.lr = adam.lr();
    options.beta1 = adam.beta1();
    options.beta2 = adam.beta2();
    options.eps = adam.eps();
    options.weightDecay = adam.weight_decay();
  }
  const Schedule &schedule = optimizer.schedule();
  if (schedule.has_warmup_cosine() || schedule.has_warmup_linear()) {
    const Warmup &warmup = schedule.has_warmup_cosine() ? schedule.warmup_cosine() : schedule.warmup_linear();
    options.schedule = schedule.has_warmup_cosine() ? "warmup_cosine" : "warmup_linear";
    options.warmup = warmup.warmup();
    options.total = warmup.total();
    options.minRatio = warmup.min_ratio();
  }
  return options;
}

void buildNarrow(mlir::OpPassManager &manager, const Precision &precision) {
  std::string type = precision.compute() == BF16 ? "bf16" : "f16";
  const bool wideResiduals = precision.has_residual() && precision.residual() == F32;
  manager.addNestedPass<ir::GraphOp>(createPrecisionNarrow({type, wideResiduals}));
  // By the working copies that it made.
  manager.addNestedPass<ir::GraphOp>(createPrecisionGradients({type}));
}

void buildLossScale(mlir::OpPassManager &manager, const LossScale &scale) {
  PrecisionLossScaleOptions options;
  options.initial = scale.initial();
  options.growthFactor = scale.growth_factor();
  options.backoffFactor = scale.backoff_factor();
  options.growthInterval = scale.growth_interval();
  options.min = scale.min();
  options.max = scale.max();
  manager.addNestedPass<ir::GraphOp>(createPrecisionLossScale(options));
}

void buildPrecision(mlir::OpPassManager &manager, const Precision &precision, const Machine &machine) {
  if (precision.compute() != F32) {
    buildNarrow(manager, precision);
  }
  // What still reads float32.
  if (precision.float32() == Precision::TF32 && machine.device == "cuda") {
    manager.addNestedPass<ir::GraphOp>(createPrecisionTf32());
  }
  if (precision.compute() == F16) {
    buildLossScale(manager, precision.loss_scale());
  }
}

// "none", "selective" or "full"; AUTO has become one of them for every layer (see recompute.h).
std::string policyText(Recompute::Policy policy) { return llvm::StringRef(Recompute::Policy_Name(policy)).lower(); }

void buildRecompute(mlir::OpPassManager &manager, const Recompute &recompute, const Machine &machine) {
  std::vector<std::string> layers;
  for (const Recompute::Layer &layer : recompute.layers()) {
    layers.push_back(layer.scope() + "=" + policyText(layer.policy()));
  }
  manager.addNestedPass<ir::GraphOp>(createRecomputeClone({policyText(recompute.policy()), layers, describe(machine)}));
}

} // namespace

const char *nameOf(Phase phase) {
  for (auto [known, name] : kNames) {
    if (known == phase) {
      return name;
    }
  }
  return "";
}

std::optional<Phase> parsePhase(const std::string &text) {
  for (auto [phase, name] : kNames) {
    if (text == name) {
      return phase;
    }
  }
  return std::nullopt;
}

std::vector<Phase> allPhases() {
  std::vector<Phase> phases;
  for (auto [phase, name] : kNames) {
    phases.push_back(phase);
  }
  return phases;
}

void buildPhase(mlir::OpPassManager &manager, Phase phase, const Job &job, const Machine &machine) {
  switch (phase) {
  case Phase::Elaborate:
    buildElaborate(manager, job, machine);
    break;
  case Phase::Pipeline:
    // Without stages too: it takes away what `model.stage` left.
    buildCut(manager, job, machine);
    break;
  case Phase::Autodiff: {
    mlir::OpPassManager &graph = manager.nest<ir::GraphOp>();
    graph.addPass(createAutodiff());
    // Updates exist only where something is minimized.
    graph.addPass(createAutodiffOptimizer(optimizerOptions(job.optimizer())));
    graph.addPass(createAutodiffDecompose());
    // What forward and backward both build is computed once, and what nobody reads not at all.
    graph.addPass(mlir::createCSEPass());
    break;
  }
  case Phase::Precision:
    buildPrecision(manager, job.precision(), machine);
    break;
  case Phase::Zero:
    // A group of one splits nothing.
    if (job.zero().stage() > 0 && job.zero().group() != 1) {
      manager.addNestedPass<ir::GraphOp>(createZeroPartition({job.zero().stage()}));
    }
    break;
  case Phase::Shard: {
    ShardInferOptions options;
    options.broadcast = job.graph().inference() == BROADCAST;
    options.machine = describe(machine);
    manager.addNestedPass<ir::GraphOp>(createShardInfer(options));
    break;
  }
  case Phase::Box:
    manager.addNestedPass<ir::GraphOp>(createBoxRoute({describe(machine)}));
    // Routes from one value share their first steps.
    manager.addNestedPass<ir::GraphOp>(mlir::createCSEPass());
    if (splitsBackward(job.pipeline())) {
      manager.addNestedPass<ir::GraphOp>(createPipelineSplit());
    }
    break;
  case Phase::Recompute:
    // What runs again is then exactly what ran: the same boxes, the same layouts.
    buildRecompute(manager, job.recompute(), machine);
    break;
  case Phase::Localize:
    manager.addPass(createLocalize());
    break;
  case Phase::Fuse:
    // On local tiles: what a collective stands between is not joined, and autodiff and layouts know nothing of it.
    if (!job.graph().has_fusion() || job.graph().fusion()) {
      manager.addNestedPass<task::ProgramOp>(createFuseEpilogues());
      manager.addNestedPass<task::ProgramOp>(createFuseNorms());
    }
    break;
  case Phase::Schedule:
    if (job.dist().pipeline() > 1 || job.has_pipeline()) {
      manager.addPass(createScheduleUnits(unitsOptions(job.pipeline())));
    }
    manager.addNestedPass<task::ProgramOp>(createScheduleActors());
    break;
  case Phase::Memory:
    // Offsets follow on the plan: compiler/memory.
    manager.addNestedPass<task::ProgramOp>(createMemoryInPlace());
    break;
  }
}

void registerPasses() {
  registerElaborate();
  registerAutodiffPasses();
  registerPipelinePasses();
  registerPrecisionPasses();
  registerShardPasses();
  registerZeroPasses();
  registerBoxPasses();
  registerRecomputePasses();
  registerLocalizePasses();
  registerFusePasses();
  registerSchedulePasses();
  registerMemoryPasses();
}

} // namespace weft::compiler
