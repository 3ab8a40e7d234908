#include "compiler/pipeline/phases.h"

#include <fstream>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/analysis/meshes.h"
#include "compiler/job/axes.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/job/optimizer.h"
#include "compiler/passes/autodiff/passes.h"
#include "compiler/passes/box/passes.h"
#include "compiler/passes/elaborate/passes.h"
#include "compiler/passes/fuse/passes.h"
#include "compiler/passes/localize/passes.h"
#include "compiler/passes/memory/passes.h"
#include "compiler/passes/pad/passes.h"
#include "compiler/passes/pipeline/passes.h"
#include "compiler/passes/precision/passes.h"
#include "compiler/passes/recompute/passes.h"
#include "compiler/passes/schedule/passes.h"
#include "compiler/passes/shard/passes.h"
#include "compiler/passes/zero/passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Transforms/Passes.h"
#include "runtime/plan/cluster.h"

namespace weft::compiler {
namespace {

constexpr std::pair<Phase, const char *> kPhases[] = {
#define WEFT_PHASE(Name, name) {Phase::Name, name},
#include "compiler/pipeline/phases.inc"
};

void buildElaborate(mlir::OpPassManager &manager, const Job &job) {
  // First every file, so that a job may set what an imported file declares.
  buildImports(manager);
  ElaborateConfigOptions config;
  std::vector<std::string> set(job.model().set().begin(), job.model().set().end());
  config.set = set;
  config.batch = job.batch().micro();
  manager.addPass(createElaborateConfig(config));
  // Numbers must be known to unroll, and everything must be inline to infer.
  manager.addPass(createElaborateInstantiate({job.model().graph()}));
  if (job.graph().pin_size() > 0) {
    ElaboratePinsOptions options;
    // The options refer to the list, which lives until the pass has copied it.
    std::vector<std::string> pins;
    for (const Pin &pin : job.graph().pin()) {
      pins.push_back(pin.parameter() + "|" + pin.axis() + "|" + pin.state());
    }
    options.pins = pins;
    manager.addPass(createElaboratePins(options));
  }
  manager.addPass(createElaborateInfer({MicroBatches(job.batch())}));
  if (job.generate().chunk() > 0) {
    manager.addNestedPass<ir::GraphOp>(createElaborateGenerate({job.generate().chunk()}));
  }
  // Pins can be checked once shapes and meshes are known.
  manager.addNestedPass<ir::GraphOp>(createElaboratePlace());
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

// Without stages too: the cut takes away what `model.stage` left.
void buildPipeline(mlir::OpPassManager &manager, const Job &job) {
  PipelineCutOptions options;
  options.stages = job.dist().pipeline();
  options.chunks = std::max<int64_t>(job.pipeline().chunks(), 1);
  options.vShape = isVShaped(job.pipeline());
  // The options refer to the list, which lives until the pass has copied it.
  std::vector<std::string> cuts(job.pipeline().cuts().begin(), job.pipeline().cuts().end());
  options.cuts = cuts;
  manager.addNestedPass<ir::GraphOp>(createPipelineCut(options));
}

ScheduleUnitsOptions unitsOptions(const Job &job) {
  const Pipeline &pipeline = job.pipeline();
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
  options.overlap = std::max<int64_t>(job.batch().overlap(), 1);
  return options;
}

// "weight_decay=0 lr_scale=0.5:.*bias".
std::string textOf(const ParameterGroup &group) {
  std::vector<std::string> said;
  if (group.has_weight_decay()) {
    said.push_back(absl::StrFormat("weight_decay=%.17g", group.weight_decay()));
  }
  if (group.has_lr_scale()) {
    said.push_back(absl::StrFormat("lr_scale=%.17g", group.lr_scale()));
  }
  if (group.has_adamw()) {
    said.push_back(group.adamw() ? "adamw=1" : "adamw=0");
  }
  return absl::StrCat(absl::StrJoin(said, " "), ":", group.pattern());
}

// The options refer to lists, which live until the pass has copied them.
void buildOptimizer(mlir::OpPassManager &graph, const Optimizer &optimizer) {
  AutodiffOptimizerOptions options;
  options.clipNorm = optimizer.clip_norm();
  OptimizerRule rule = RuleOf(optimizer);
  options.rule = rule.name;
  options.lr = rule.lr;
  std::vector<std::string> numbers;
  for (const auto &[name, value] : rule.numbers) {
    numbers.push_back(absl::StrFormat("%s=%.17g", name, value));
  }
  options.numbers = numbers;
  const OptimizerSchedule schedule = ScheduleOf(optimizer);
  options.schedule = schedule.name;
  std::vector<std::string> scheduleNumbers, groups;
  for (const auto &[name, text] : schedule.numbers) {
    scheduleNumbers.push_back(name + "=" + text);
  }
  options.scheduleNumbers = scheduleNumbers;
  for (const ParameterGroup &group : optimizer.groups()) {
    groups.push_back(textOf(group));
  }
  options.groups = groups;
  graph.addPass(createAutodiffOptimizer(options));
}

void buildAutodiff(mlir::OpPassManager &manager, const Job &job) {
  mlir::OpPassManager &graph = manager.nest<ir::GraphOp>();
  std::vector<std::string> frozen(job.optimizer().frozen().begin(), job.optimizer().frozen().end());
  if (!frozen.empty()) {
    graph.addPass(createAutodiffFreeze({frozen}));
  }
  graph.addPass(createAutodiff({job.batch().global(), job.batch().micro()}));
  // Updates exist only where something is minimized.
  buildOptimizer(graph, job.optimizer());
  graph.addPass(createAutodiffDecompose());
  // What nobody reads is not computed at all, and what forward and backward both build once.
  graph.addPass(createAutodiffPrune());
  graph.addPass(mlir::createCSEPass());
}

void buildNarrow(mlir::OpPassManager &manager, const Precision &precision) {
  std::string type = precision.compute() == BF16 ? "bf16" : "f16";
  const bool wideResiduals = precision.has_residual() && precision.residual() == F32;
  manager.addNestedPass<ir::GraphOp>(createPrecisionNarrow({type, wideResiduals}));
  // Gradients are narrowed by the working copies of parameters that the pass before made.
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

void buildPrecision(mlir::OpPassManager &manager, const Job &job) {
  const Precision &precision = job.precision();
  if (precision.compute() != F32) {
    buildNarrow(manager, precision);
  }
  // What still reads float32.
  if (precision.float32() == Precision::TF32) {
    manager.addNestedPass<ir::GraphOp>(createPrecisionTf32());
  }
  if (precision.compute() == F16) {
    buildLossScale(manager, precision.loss_scale());
  }
}

// Before `zero`, which splits what divides.
void buildPad(mlir::OpPassManager &manager, const Job &job) {
  const Batch &batch = job.batch();
  manager.addNestedPass<ir::GraphOp>(createPad({batch.global() % batch.micro() == 0 ? 0 : batch.global()}));
}

void buildZero(mlir::OpPassManager &manager, const Job &job) {
  // A group of one splits nothing.
  if (job.zero().stage() > 0 && job.zero().group() != 1) {
    manager.addNestedPass<ir::GraphOp>(createZeroPartition({job.zero().stage()}));
  }
}

void buildShard(mlir::OpPassManager &manager, const Job &job) {
  manager.addNestedPass<ir::GraphOp>(createAutodiffDecompose({/*updates=*/true}));
  manager.addNestedPass<ir::GraphOp>(
      createShardInfer({job.graph().inference() == BROADCAST, llvm::StringRef(Ring_Name(job.graph().ring())).lower()}));
}

void buildBox(mlir::OpPassManager &manager, const Job &job) {
  manager.addNestedPass<ir::GraphOp>(createBoxRing());
  manager.addNestedPass<ir::GraphOp>(createBoxRoute());
  // Routes from one value share their first steps.
  manager.addNestedPass<ir::GraphOp>(mlir::createCSEPass());
  // Layouts and tiles are known, and units not yet made.
  manager.addNestedPass<ir::GraphOp>(createBoxChunks({job.graph().loss_chunks()}));
  manager.addNestedPass<ir::GraphOp>(mlir::createCSEPass());
  if (splitsBackward(job.pipeline())) {
    manager.addNestedPass<ir::GraphOp>(createPipelineSplit());
  }
}

// "none", "selective" or "full"; AUTO has become one of them for every layer (see recompute.h).
std::string policyText(Recompute::Policy policy) { return llvm::StringRef(Recompute::Policy_Name(policy)).lower(); }

// After `box`: what runs again is exactly what ran, the same boxes in the same layouts.
void buildRecompute(mlir::OpPassManager &manager, const Job &job) {
  std::vector<std::string> layers;
  for (const Recompute::Layer &layer : job.recompute().layers()) {
    layers.push_back(layer.scope() + "=" + policyText(layer.policy()));
  }
  manager.addNestedPass<ir::GraphOp>(createRecomputeClone({policyText(job.recompute().policy()), layers}));
}

void buildLocalize(mlir::OpPassManager &manager, const Job &job) {
  manager.addPass(
      createLocalize({job.zero().tier(), job.zero().offload() == Zero::PARAMETERS, job.zero().update() == Zero::HOST}));
}

// On local tiles: what a collective stands between is not joined, and autodiff and layouts know nothing of it.
void buildFuse(mlir::OpPassManager &manager, const Job &job) {
  const bool fuses = !job.graph().has_fusion() || job.graph().fusion();
  if (fuses) {
    manager.addNestedPass<task::ProgramOp>(createFusePacked());
    manager.addNestedPass<task::ProgramOp>(createFuseEpilogues({std::max<int64_t>(job.batch().overlap(), 1)}));
    manager.addNestedPass<task::ProgramOp>(createFuseSquares());
  }
  manager.addPass(createFuseCopies({fuses}));
  FuseClustersOptions options;
  options.joins = !fuses ? 0 : job.graph().has_fusion_limit() ? job.graph().fusion_limit() : -1;
  manager.addPass(createFuseClusters(options));
  if (options.joins == -1) {
    manager.addPass(createFuseBatches());
  }
}

void buildTiers(mlir::OpPassManager &manager, const Job &job) {
  ScheduleTiersOptions options;
  options.host = job.zero().update() == Zero::HOST;
  options.whole = job.zero().offload() != Zero::PARAMETERS;
  const Recompute &recompute = job.recompute();
  // The options refer to the list, which lives until the pass has copied it.
  std::vector<std::string> layers;
  if (Offloads(recompute)) {
    options.activations = recompute.tier();
    options.others = recompute.offload();
    for (const Recompute::Layer &layer : recompute.layers()) {
      if (layer.has_offload()) {
        layers.push_back(absl::StrCat(layer.scope(), layer.offload() ? "=below" : "=here"));
      }
    }
  }
  options.layers = layers;
  manager.addNestedPass<task::ProgramOp>(createScheduleTiers(options));
}

void buildSchedule(mlir::OpPassManager &manager, const Job &job) {
  if (job.dist().pipeline() > 1 || job.has_pipeline() || job.batch().overlap() > 1) {
    manager.addPass(createScheduleUnits(unitsOptions(job)));
  }
  if (job.zero().offload() != Zero::NOTHING || Offloads(job.recompute())) {
    buildTiers(manager, job);
  }
  manager.addNestedPass<task::ProgramOp>(createScheduleActors());
  manager.addPass(createScheduleSlots());
  if (job.batch().overlap() > 1) {
    manager.addNestedPass<task::ProgramOp>(createScheduleTurns());
  }
}

void buildMemory(mlir::OpPassManager &manager, const Job &) {
  // Offsets follow on the plan: compiler/memory.
  manager.addNestedPass<task::ProgramOp>(createMemoryInPlace());
}

// ---- phases on the command line ---------------------------------------------

struct PhaseOptions : mlir::PassPipelineOptions<PhaseOptions> {
  Option<std::string> job{*this, "job", llvm::cl::desc("the job that says what the phase does"), llvm::cl::init("")};
  ListOption<std::string> keys{*this, "keys", llvm::cl::desc("keys of the job, such as dist.data=2")};
};

// What compile() does to a module before the first phase.
struct SetInputs : mlir::PassWrapper<SetInputs, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SetInputs)
  SetInputs(const Job &job, const CostModel &machine) : job(job), machine(machine) {}
  llvm::StringRef getName() const override { return "SetInputs"; }
  void getDependentDialects(mlir::DialectRegistry &registry) const override { registry.insert<ir::WeftDialect>(); }
  void runOnOperation() override { setInputs(getOperation(), job, machine); }
  Job job;
  CostModel machine;
};

// Without a file, a job of which nothing but `keys` is said; weft-opt reads the model itself.
absl::StatusOr<Job> jobOf(const PhaseOptions &options) {
  std::vector<std::string> keys(options.keys.begin(), options.keys.end());
  absl::StatusOr<Job> job =
      options.job.empty() ? ParseJob("model { file: \"-\" }", "keys", keys) : LoadJob(options.job, keys);
  return job.ok() ? LocateJob(*job, options.job) : job;
}

llvm::LogicalResult buildNamed(mlir::OpPassManager &manager, Phase phase, llvm::StringRef text,
                               llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> error) {
  PhaseOptions options;
  if (failed(options.parseFromString(text))) {
    return mlir::failure();
  }
  absl::StatusOr<Job> job = jobOf(options);
  absl::StatusOr<Cluster> cluster = job.ok() ? LoadCluster(job->cluster()) : job.status();
  if (!cluster.ok()) {
    return error(std::string(cluster.status().message()));
  }
  ResolveTiers(*cluster, &*job);
  if (phase == Phase::Elaborate) {
    manager.addPass(std::make_unique<SetInputs>(*job, CostModel{plan::MachineOf(*cluster)}));
  }
  buildPhase(manager, phase, *job);
  return mlir::success();
}

void registerPhase(Phase phase) {
  mlir::registerPassPipeline(
      std::string("phase-") + nameOf(phase),
      std::string("the passes of `") + nameOf(phase) + "`, as a job asks for them",
      [phase](mlir::OpPassManager &manager, llvm::StringRef options,
              llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> error) {
        return buildNamed(manager, phase, options, error);
      },
      [](llvm::function_ref<void(const mlir::detail::PassOptions &)> handle) { handle(PhaseOptions()); });
}

} // namespace

const char *nameOf(Phase phase) { return kPhases[size_t(phase)].second; }

std::optional<Phase> parsePhase(const std::string &text) {
  for (auto [phase, name] : kPhases) {
    if (text == name) {
      return phase;
    }
  }
  return std::nullopt;
}

std::vector<Phase> allPhases() {
  std::vector<Phase> phases;
  for (auto [phase, name] : kPhases) {
    phases.push_back(phase);
  }
  return phases;
}

void setInputs(mlir::ModuleOp module, const Job &job, const CostModel &machine) {
  mlir::Builder builder(module.getContext());
  if (mlir::DictionaryAttr rates = attributeOf(module.getContext(), machine)) {
    module->setAttr(kMachineName, rates);
  }
  llvm::SmallVector<mlir::Attribute> meshes;
  int64_t next = 0;
  auto add = [&](const Dist &dist) {
    llvm::SmallVector<mlir::StringAttr> axes;
    llvm::SmallVector<int64_t> sizes, ranks(StageRanks(dist));
    for (const SizedAxis &axis : MeshOf(dist, job.zero())) {
      axes.push_back(builder.getStringAttr(llvm::StringRef(axis.name)));
      sizes.push_back(axis.size);
    }
    std::iota(ranks.begin(), ranks.end(), next);
    next += int64_t(ranks.size());
    meshes.push_back(
        ir::PlacementAttr::get(module.getContext(), builder.getStringAttr(machine.device), axes, sizes, ranks));
  };
  llvm::for_each(job.pipeline().stages(), add);
  if (meshes.empty()) {
    add(job.dist());
  }
  module->setAttr(kMeshesName, builder.getArrayAttr(meshes));
}

void buildPhase(mlir::OpPassManager &manager, Phase phase, const Job &job) {
  switch (phase) {
#define WEFT_PHASE(Name, name)                                                                                         \
  case Phase::Name:                                                                                                    \
    return build##Name(manager, job);
#include "compiler/pipeline/phases.inc"
  }
}

void buildImports(mlir::OpPassManager &manager) { manager.addPass(createElaborateImports()); }

void registerPasses() {
#define WEFT_PHASE(Name, name) register##Name##Passes();
#include "compiler/pipeline/phases.inc"
  llvm::for_each(allPhases(), registerPhase);
}

} // namespace weft::compiler
