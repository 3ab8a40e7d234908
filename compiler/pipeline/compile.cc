#include "compiler/pipeline/compile.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/analysis/cost.h"
#include "compiler/dialect/model/model.h"
#include "compiler/dialect/task/task.h"
#include "compiler/emit/emit.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/diagnostics.h"
#include "compiler/pipeline/recompute.h"
#include "compiler/pipeline/remedies.h"
#include "compiler/pipeline/target.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Parser/Parser.h"
#include "ops/dialect/register.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/load.h"
#include "runtime/plan/read_file.h"
#include "runtime/plan/validate.h"
#include "runtime/proof/verify.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {
namespace {

// What the header needs of the graph, taken before it is cut into programs.
struct GraphFacts {
  std::string name;
  bool training = false;
  int64_t microBatches = 1;
  double flops = 0;
  int64_t tokens = 0;
};

GraphFacts factsOf(mlir::ModuleOp module) {
  GraphFacts facts;
  for (auto graph : module.getOps<ir::GraphOp>()) {
    facts.name = graph.getSymName().str();
    facts.training = !graph.getBody().getOps<ir::AssignOp>().empty();
    facts.microBatches = int64_t(graph.getMicroBatches());
    facts.flops = modelFlops(graph);
    for (mlir::BlockArgument argument : graph.getBody().getArguments()) {
      mlir::RankedTensorType type = ir::tensorOf(argument);
      if (type.getElementType().isInteger(32) && facts.tokens == 0) {
        facts.tokens = type.getNumElements() * facts.microBatches;
      }
    }
  }
  return facts;
}

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

absl::Status dump(mlir::ModuleOp module, const std::string &folder, int number, Phase phase) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string path = absl::StrFormat("%s/%02d-%s.mlir", folder, number, nameOf(phase));
  llvm::raw_fd_ostream os(path, error);
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat("--dump-ir: cannot write ", path, ": ", error.message()));
  }
  module.print(os);
  return absl::OkStatus();
}

void fillHeader(const Job &job, const Cluster &cluster, const GraphFacts &facts, plan::Plan &plan) {
  plan::Header &header = *plan.mutable_header();
  header.set_version(plan::kPlanVersion);
  header.set_target(cluster.device().kind());
  header.set_graph(facts.name);
  *header.mutable_job() = job;
  *header.mutable_cluster() = cluster;
  header.set_micro_batches(facts.microBatches);
  header.set_training(facts.training);
  header.set_tokens_per_step(facts.tokens);
  header.set_flops_per_step(facts.flops);
}

// What the job asks for and no plan may have, whatever the cluster.
absl::Status checkMicroBatches(const Batch &batch) {
  if (MicroBatches(batch) <= plan::kMaxMicroBatches) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("batch.global: expected at most ", plan::kMaxMicroBatches,
                                                 " micro-batches of ", batch.micro(), ", got ", batch.global()));
}

absl::Status checkArenas(const plan::Plan &plan) {
  for (int i = 0; i < plan.stages_size(); ++i) {
    if (plan.stages(i).arena_bytes() > plan::kMaxBytes) {
      return absl::InvalidArgumentError(absl::StrCat("the plan does not fit: stage ", i,
                                                     ": memory of a rank: expected at most ", plan::kMaxBytes,
                                                     " bytes, got ", plan.stages(i).arena_bytes()));
    }
  }
  return absl::OkStatus();
}

// What fails without a word of its own still needs one.
absl::Status wrongModel(const Job &job, const FirstError &errors, llvm::StringRef what) {
  return absl::InvalidArgumentError(errors.printed() ? "" : absl::StrCat(job.model().file(), ": ", what.str()));
}

// Runs the phases up to the last one, or to `options.stopAfter`. An attempt prints no errors.
absl::StatusOr<Compiled> lower(const CompileOptions &options, bool attempt) {
  const Job &job = options.job;
  std::error_code missing;
  if (!std::filesystem::is_regular_file(job.model().file(), missing)) {
    return absl::NotFoundError(absl::StrCat(job.model().file(), ": expected a model file, found none"));
  }
  if (absl::Status status = checkMicroBatches(job.batch()); !status.ok()) {
    return status;
  }
  mlir::DialectRegistry registry;
  ir::registerWeftDialect(registry);
  registry.insert<model::ModelDialect, task::TaskDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // errors show the line of the model file instead
  const absl::StatusOr<std::string> text = plan::ReadText(job.model().file());
  if (!text.ok()) {
    return text.status();
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(*text, job.model().file()), llvm::SMLoc());
  FirstError errors(sources, &context);
  mlir::ScopedDiagnosticHandler silence(&context, [&](mlir::Diagnostic &) { return llvm::success(attempt); });

  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module) {
    return wrongModel(job, errors, "does not parse");
  }
  setInputs(*module, job, Machine{plan::MachineOf(options.cluster)});
  GraphFacts facts;
  Job running = job; // the recompute of every layer is found on the way
  int number = 0;
  for (Phase phase : allPhases()) {
    if (phase == Phase::Localize) {
      facts = factsOf(*module);
    }
    if (phase == Phase::Recompute) {
      auto resolved = resolveRecompute(*module, job, options.cluster.device().memory_bytes());
      if (failed(resolved)) {
        return wrongModel(job, errors, std::string(nameOf(phase)) + " failed");
      }
      *running.mutable_recompute() = *resolved;
    }
    mlir::PassManager manager(&context);
    buildPhase(manager, phase, running);
    if (failed(manager.run(*module)) ||
        (phase == Phase::Pipeline && failed(checkTarget(*module, job, options.cluster)))) {
      return wrongModel(job, errors, std::string(nameOf(phase)) + " failed");
    }
    if (!options.dumpIr.empty()) {
      if (absl::Status status = dump(*module, options.dumpIr, ++number, phase); !status.ok()) {
        return status;
      }
    }
    if (options.stopAfter == phase) {
      return Compiled{{}, textOf(*module)};
    }
  }
  Compiled compiled;
  fillHeader(job, options.cluster, facts, compiled.plan);
  if (facts.training && (job.recompute().policy() != Recompute::NONE || !job.recompute().layers().empty())) {
    *compiled.plan.mutable_header()->mutable_recompute() = running.recompute().layers();
  }
  if (failed(emitPlan(*module, compiled.plan))) {
    return wrongModel(job, errors, "emit failed");
  }
  if (absl::Status status = checkArenas(compiled.plan); !status.ok()) {
    return status;
  }
  return compiled;
}

} // namespace

absl::StatusOr<Compiled> compile(const CompileOptions &options) {
  absl::StatusOr<Compiled> lowered = lower(options, false);
  if (!lowered.ok() || options.stopAfter) {
    return lowered;
  }
  Compiled &compiled = *lowered;
  plan::VerifyOptions verify;
  verify.device_bytes = options.cluster.device().memory_bytes();
  absl::StatusOr<std::vector<int64_t>> bounds = plan::VerifyAndMeasure(compiled.plan, verify);
  const absl::Status verified = bounds.status();
  if (absl::IsResourceExhausted(verified)) {
    Planner planner = [&](const Job &job) -> absl::StatusOr<plan::Plan> {
      absl::StatusOr<Compiled> attempt = lower({job, options.cluster, std::nullopt, ""}, true);
      return attempt.ok() ? absl::StatusOr<plan::Plan>(std::move(attempt->plan)) : attempt.status();
    };
    return absl::InvalidArgumentError(absl::StrCat("the plan does not fit: ", verified.message(),
                                                   remedies(options.job, options.cluster, compiled.plan, planner)));
  }
  if (!verified.ok()) {
    return absl::InternalError(absl::StrCat("the compiled plan does not verify: ", verified.message()));
  }
  for (size_t s = 0; s < bounds->size(); ++s) {
    compiled.plan.mutable_stages(int(s))->set_lower_bound_bytes((*bounds)[s]);
  }
  absl::StatusOr<sim::Report> report = sim::Simulate(compiled.plan, Machine{plan::MachineOf(options.cluster)});
  if (!report.ok()) {
    return absl::InternalError(absl::StrCat("the compiled plan cannot be simulated: ", report.status().message()));
  }
  sim::SetPrediction(*report, &compiled.plan);
  return compiled;
}

} // namespace weft::compiler
