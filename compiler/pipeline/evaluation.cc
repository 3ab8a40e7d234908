#include "compiler/pipeline/evaluation.h"

#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/analysis/layer.h"
#include "compiler/analysis/meshes.h"
#include "compiler/analysis/pins.h"
#include "compiler/dialect/model/model.h"
#include "compiler/dialect/task/task.h"
#include "compiler/job/axes.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/lowering.h"
#include "compiler/pipeline/model_source.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/GlobPattern.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/names.h"
#include "runtime/plan/program.h"
#include "runtime/proof/evaluation.h"

namespace weft::compiler {
namespace {

absl::Status wrong(const std::string &what) { return absl::InvalidArgumentError(absl::StrCat("evaluation", what)); }

// A function has one micro-batch, keeps nothing for a backward, and is evaluated by itself.
Job jobOf(const Job &training) {
  Job job = training;
  const Evaluation &evaluation = training.evaluation();
  job.mutable_model()->set_graph(evaluation.graph());
  const int64_t batch = evaluation.batch() > 0 ? evaluation.batch() : training.batch().micro();
  job.mutable_batch()->set_global(batch);
  job.mutable_batch()->set_micro(batch);
  job.clear_recompute();
  job.clear_evaluation();
  if (job.has_optimizer()) { // nothing is updated, and some of what is named may not be there
    job.mutable_optimizer()->clear_groups();
    job.mutable_optimizer()->clear_frozen();
  }
  if (!job.pipeline().schedule_file().empty()) {
    job.mutable_pipeline()->clear_schedule_file();
    job.mutable_pipeline()->set_schedule(job.pipeline().chunks() > 1 ? INTERLEAVED : ONE_F_ONE_B);
  }
  return job;
}

absl::Status checkGraph(mlir::ModuleOp module, const std::string &name) {
  std::vector<std::string> names;
  for (auto graph : module.getOps<model::GraphOp>()) {
    names.push_back(graph.getSymName().str());
  }
  return llvm::is_contained(names, name)
             ? absl::OkStatus()
             : wrong(absl::StrCat(".graph: expected ", absl::StrJoin(names, ", "), ", got ", name));
}

// ---- what it yields ----------------------------------------------------------

// Values of each sample, of which one is a number; the metric that says what is best is among these.
absl::Status checkOutputs(ir::GraphOp graph, const Evaluation &evaluation, int64_t batch) {
  std::vector<std::string> numbers;
  for (auto output : graph.getBody().getOps<ir::OutputOp>()) {
    const std::string name = output.getName().str();
    const llvm::SmallVector<int64_t> shape = ir::unpaddedShapeOf(output.getValue());
    if (shape.empty() || shape[0] != batch) {
      return wrong(absl::StrCat(".graph: ", evaluation.graph(), ": output `", name,
                                "`: expected values of each sample, [batch, ...] with a batch of ", batch, ", got ",
                                shape.empty() ? "a scalar" : absl::StrCat("[", absl::StrJoin(shape, ","), "]")));
    }
    if (shape.size() == 1) {
      numbers.push_back(name);
    }
  }
  if (numbers.empty()) {
    return wrong(absl::StrCat(".graph: ", evaluation.graph(),
                              ": expected an output that is one number a sample, [batch], got none"));
  }
  if (!evaluation.metric().empty() && !llvm::is_contained(numbers, evaluation.metric())) {
    return wrong(absl::StrCat(".metric: expected an output of ", evaluation.graph(), " that is one number a sample, ",
                              absl::StrJoin(numbers, " or "), ", got ", evaluation.metric()));
  }
  return absl::OkStatus();
}

// ---- pins --------------------------------------------------------------------

// Leaves out pins of parameters that the function lacks. The others count, as they say what is padded.
absl::Status keepOwnPins(const CompileOptions &options, ModelSource &source, Job &job) {
  if (job.graph().pin().empty()) {
    return absl::OkStatus();
  }
  Job free = job;
  free.mutable_graph()->clear_pin();
  Lowering lowering{free, mlir::OwningOpRef<mlir::ModuleOp>(source.module().clone()), {}};
  Candidates candidates(*lowering.module, options.cluster);
  if (failed(runPhase(lowering, Phase::Elaborate, options.cluster, candidates))) {
    return source.wrong("elaborate failed");
  }
  std::vector<std::string> names;
  lowering.module->walk([&](ir::ParameterOp parameter) { names.push_back(parameter.getName().str()); });
  job.mutable_graph()->clear_pin();
  for (const Pin &pin : options.job.graph().pin()) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(pin.parameter());
    if (!pattern) {
      llvm::consumeError(pattern.takeError()); // the training has it too, and would not be here
      continue;
    }
    if (llvm::any_of(names, [&](const std::string &name) { return pattern->match(name); })) {
      *job.mutable_graph()->add_pin() = pin;
    }
  }
  return absl::OkStatus();
}

// ---- stages ------------------------------------------------------------------

// Tells the phase `pipeline` which chunk of the training each layer is in.
absl::Status holdLayers(mlir::ModuleOp function, const CompileOptions &options, ModelSource &source) {
  const Job job = LocateJob(options.job, options.jobFile);
  if (job.dist().pipeline() <= 1) {
    return absl::OkStatus();
  }
  Lowering training{job, mlir::OwningOpRef<mlir::ModuleOp>(source.module().clone()), {}};
  Candidates candidates(*training.module, options.cluster);
  for (Phase phase : {Phase::Elaborate, Phase::Pipeline}) {
    if (failed(runPhase(training, phase, options.cluster, candidates))) {
      return source.wrong(absl::StrCat(nameOf(phase), " failed"));
    }
  }
  llvm::MapVector<llvm::StringRef, int64_t> chunks; // of what is first seen of a layer
  for (mlir::Operation &op : (*training.module->getOps<ir::GraphOp>().begin()).getBody().front()) {
    if (op.getNumOperands() > 0) {
      chunks.insert({pieceOf(ir::scopeOf(&op)), ir::chunkOf(&op)});
    }
  }
  mlir::Builder builder(function.getContext());
  mlir::NamedAttrList held;
  for (auto [layer, chunk] : chunks) {
    if (!layer.empty()) {
      held.append(layer, builder.getI64IntegerAttr(chunk));
    }
  }
  for (auto graph : function.getOps<ir::GraphOp>()) {
    graph->setAttr(kChunksName, held.getDictionary(function.getContext()));
  }
  return absl::OkStatus();
}

// ---- parameters --------------------------------------------------------------

struct Trained {
  int64_t stage = 0;
  const plan::Placement *placement = nullptr;
  const plan::Buffer *buffer = nullptr;
};

// What a training keeps from step to step, by name.
std::map<std::string, Trained> stateOf(const plan::Plan &training) {
  std::map<std::string, Trained> state;
  for (int s = 0; s < training.stages_size(); ++s) {
    for (const plan::Buffer &buffer : training.stages(s).buffers()) {
      const bool kept = buffer.kind() == plan::Buffer::PARAMETER || buffer.kind() == plan::Buffer::OPTIMIZER;
      if (kept && buffer.alias_of() == 0) {
        state[buffer.name()] = {s, &training.placements(training.stages(s).placement()), &buffer};
      }
    }
  }
  return state;
}

// Pins parameters to where the training has them. Those that ZeRO shares out are left to its pass, which knows how
// they are read: it is told which these are.
absl::Status holdParameters(ir::GraphOp graph, const Job &job, const plan::Plan &training) {
  const std::map<std::string, Trained> state = stateOf(training);
  mlir::Builder builder(graph.getContext());
  for (auto parameter : graph.getBody().getOps<ir::ParameterOp>()) {
    const std::string name = parameter.getName().str();
    const std::string of = absl::StrCat(".graph: ", graph.getSymName().str(), ": parameter `", name, "`: expected ");
    const auto found = state.find(name);
    if (found == state.end()) {
      return wrong(absl::StrCat(of, "one that ", training.header().graph(), " has, found none of this name"));
    }
    const Trained &trained = found->second;
    llvm::ArrayRef<int64_t> shape = ir::shapeOf(parameter.getResult());
    if (!std::equal(shape.begin(), shape.end(), trained.buffer->shape().begin(), trained.buffer->shape().end())) {
      return wrong(absl::StrCat(of, "[", absl::StrJoin(trained.buffer->shape(), ","), "], as ",
                                training.header().graph(), " has it, got [", absl::StrJoin(shape, ","), "]"));
    }
    const int64_t stage = ir::stageOf(parameter.getResult());
    if (stage != trained.stage) {
      return wrong(absl::StrCat(of, "the first use on stage ", trained.stage, ", as in ", training.header().graph(),
                                ", got one on stage ", stage));
    }
    ir::PlacementAttr home = graph.getPlacement(stage);
    llvm::FailureOr<States> own =
        resolvePins(parameter, name, parameter.getPinsAttr(), ir::tensorOf(parameter.getResult()), home);
    if (failed(own)) {
      return absl::InvalidArgumentError("");
    }
    const int sharing = job.zero().stage() > 0 && job.zero().group() != 1 ? SharedAxis(axisNames(home)) : -1;
    mlir::NamedAttrList pins;
    for (int axis = 0; axis < trained.placement->axes_size(); ++axis) {
      const plan::Sbp &lies = trained.buffer->sbp(axis);
      const bool splits = lies.kind() == plan::Sbp::SPLIT;
      const bool shared = axis == sharing && splits && !(*own)[axis].isSplit();
      if (shared) {
        parameter->setAttr("shared", builder.getUnitAttr());
      }
      pins.append(trained.placement->axes(axis).name(),
                  ir::ExprAttr::get(graph.getContext(), splits && !shared ? absl::StrCat("S(", lies.dim(), ")") : "B"));
    }
    parameter.setPinsAttr(pins.getDictionary(graph.getContext()));
  }
  return absl::OkStatus();
}

// Lets parameters lie where the training has them: in its tiers, as what they are.
void holdInMemory(mlir::ModuleOp module, const Cluster &cluster, const plan::Plan &training) {
  const std::map<std::string, Trained> state = stateOf(training);
  module.walk([&](task::BufferOp buffer) {
    const auto found = state.find(buffer.getName().str());
    if (buffer.getKind() != task::BufferKind::Parameter || found == state.end()) {
      return;
    }
    buffer.removeTierAttr();
    buffer->setAttr(task::kHeldName, mlir::UnitAttr::get(buffer.getContext()));
    if (const int tier = found->second.buffer->tier(); tier > 0) {
      buffer.setTier(llvm::StringRef(cluster.tier(tier - 1).name()));
    }
  });
}

// ---- memory ------------------------------------------------------------------

// Bytes of the device, or of a tier, behind all that lies there from step to step.
struct Memory {
  int64_t kept = 0;                                     // of the training
  int64_t lowest = std::numeric_limits<int64_t>::max(); // of what the function has besides parameters
  int64_t end = 0;                                      // of that where it will be
};

// Moves everything of a stage that is no parameter above what the training keeps, and parameters to theirs; each within
// its memory, 0 the device, t tier t - 1.
void placeBeside(const plan::Program &training, const std::map<std::string, Trained> &state, plan::Plan &evaluation) {
  const plan::Plan before = evaluation;
  const plan::Program program = plan::ProgramOf(before, training.index);
  std::map<int32_t, Memory> memories;
  for (int32_t b = 0; b < training.stage->buffers_size(); ++b) {
    Memory &memory = memories[training.buffer(training.root[b]).tier()];
    if (training.persistent[training.root[b]]) {
      const int64_t base = training.buffer(training.root[b]).tier() * plan::kTierSpan;
      memory.kept = std::max(memory.kept, training.AllSlotsOf(b).end - base);
    }
  }
  plan::Stage &stage = *evaluation.mutable_stages(training.index);
  const auto rangeOf = [&](int32_t b, int32_t slot) {
    const plan::ByteRange range = program.RangeOf(b, slot);
    const int64_t base = program.buffer(program.root[b]).tier() * plan::kTierSpan;
    return plan::ByteRange{range.begin - base, range.end - base};
  };
  for (int32_t b = 0; b < stage.buffers_size(); ++b) {
    Memory &memory = memories[program.buffer(program.root[b]).tier()];
    for (int32_t slot = 0; slot < program.slots[b] && !program.persistent[program.root[b]]; ++slot) {
      memory.lowest = std::min(memory.lowest, rangeOf(b, slot).begin);
    }
  }
  for (auto &[tier, memory] : memories) {
    memory.end = memory.kept;
  }
  for (int32_t b = 0; b < stage.buffers_size(); ++b) {
    plan::Buffer &buffer = *stage.mutable_buffers(b);
    const int32_t root = program.root[b];
    if (program.persistent[root]) {
      const int64_t inside = program.offset[b] - program.offset[root];
      buffer.set_offset(state.at(program.buffer(root).name()).buffer->offset() + inside);
      continue;
    }
    Memory &memory = memories[program.buffer(root).tier()];
    const int64_t by = memory.kept - memory.lowest;
    buffer.set_offset(buffer.offset() + by);
    for (int64_t &offset : *buffer.mutable_slot_offsets()) {
      offset += by;
    }
    for (int32_t slot = 0; slot < program.slots[b]; ++slot) {
      memory.end = std::max(memory.end, rangeOf(b, slot).end + by);
    }
  }
  stage.set_arena_bytes(std::max(memories[0].end, stage.lower_bound_bytes()));
  for (const auto &[tier, memory] : memories) {
    while (tier > stage.tier_bytes_size()) {
      stage.add_tier_bytes(0);
    }
    if (tier > 0) {
      stage.set_tier_bytes(tier - 1, memory.end);
    }
  }
}

absl::StatusOr<plan::Plan> planBeside(const CompileOptions &options, const plan::Plan &training) {
  const Evaluation &evaluation = options.job.evaluation();
  Job asked = jobOf(options.job);
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<ModelSource> source,
                        ModelSource::read(LocateJob(asked, options.jobFile)));
  WEFT_RETURN_IF_ERROR(checkGraph(source->module(), evaluation.graph()));
  WEFT_RETURN_IF_ERROR(keepOwnPins(options, *source, asked));
  const Job job = LocateJob(asked, options.jobFile);
  Lowering lowering{job, mlir::OwningOpRef<mlir::ModuleOp>(source->module().clone()), {}};
  Candidates candidates(*lowering.module, options.cluster);
  for (Phase phase : allPhases()) {
    if (phase == Phase::Pipeline) {
      WEFT_RETURN_IF_ERROR(holdLayers(*lowering.module, options, *source));
    }
    if (phase == Phase::Zero) {
      ir::GraphOp graph = *lowering.module->getOps<ir::GraphOp>().begin();
      if (!graph.getBody().getOps<ir::AssignOp>().empty()) {
        return wrong(
            absl::StrCat(".graph: expected a function, which minimizes and assigns nothing, got ", evaluation.graph()));
      }
      WEFT_RETURN_IF_ERROR(checkOutputs(graph, evaluation, job.batch().micro()));
      const absl::Status held = holdParameters(graph, job, training);
      if (!held.ok()) {
        return held.message().empty() ? source->wrong("evaluation failed") : held;
      }
    }
    if (phase == Phase::Fuse) {
      holdInMemory(*lowering.module, options.cluster, training);
    }
    if (failed(runPhase(lowering, phase, options.cluster, candidates))) {
      return source->wrong(absl::StrCat("evaluation: ", nameOf(phase), " failed"));
    }
  }
  absl::StatusOr<plan::Plan> plan = planOf(lowering, asked, options.cluster, options.memorySeed);
  if (!plan.ok()) {
    return plan.status().message().empty() ? source->wrong("evaluation: emit failed") : plan.status();
  }
  const std::map<std::string, Trained> state = stateOf(training);
  for (const plan::Program &program : plan::ProgramsOf(training)) {
    placeBeside(program, state, *plan);
  }
  const absl::Status certified = certify(job, options.cluster, nullptr, *plan);
  if (absl::IsInvalidArgument(certified)) { // the layout is the training's
    return wrong(absl::StrCat(": ", certified.message(), "\n  fewer samples a step need less: evaluation.batch is ",
                              job.batch().micro()));
  }
  WEFT_RETURN_IF_ERROR(certified);
  return plan;
}

} // namespace

absl::Status addEvaluation(const CompileOptions &options, plan::Plan &plan) {
  if (options.job.evaluation().graph().empty()) {
    return absl::OkStatus();
  }
  if (!plan.header().training()) {
    return absl::OkStatus(); // a function of a job that has an evaluation too
  }
  absl::StatusOr<plan::Plan> evaluation = planBeside(options, plan);
  if (!evaluation.ok()) {
    const std::string text(evaluation.status().message());
    return text.empty() || text.rfind("evaluation", 0) == 0
               ? evaluation.status()
               : absl::Status(evaluation.status().code(), absl::StrCat("evaluation: ", text));
  }
  *plan.mutable_evaluation() = *std::move(evaluation);
  const absl::Status beside = plan::CheckEvaluation(plan);
  return beside.ok() ? beside
                     : absl::InternalError(absl::StrCat("the compiled evaluation does not verify: ", beside.message()));
}

} // namespace weft::compiler
