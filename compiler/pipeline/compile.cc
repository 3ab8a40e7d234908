#include "compiler/pipeline/compile.h"

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/dialect/model/model.h"
#include "compiler/dialect/task/task.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/diagnostics.h"
#include "compiler/pipeline/lowering.h"
#include "compiler/pipeline/remedies.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Parser/Parser.h"
#include "ops/abi/status_macros.h"
#include "ops/register.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/read_file.h"
#include "runtime/plan/validate.h"
#include "runtime/proof/verify.h"
#include "runtime/sim/simulate.h"

namespace weft::compiler {
namespace {

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

// What the job asks for and no plan may have, whatever the cluster.
absl::Status checkMicroBatches(const Batch &batch) {
  if (MicroBatches(batch) <= plan::kMaxMicroBatches) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("batch.global: expected at most ", plan::kMaxMicroBatches,
                                                 " micro-batches of ", batch.micro(), ", got ", batch.global()));
}

// The status of a model that does not compile. Where no error was printed at a line of the model, it says `what`.
absl::Status wrongModel(const Job &job, const FirstError &errors, llvm::StringRef what) {
  return absl::InvalidArgumentError(errors.printed() ? "" : absl::StrCat(job.model().file(), ": ", what.str()));
}

// A context that knows what a model file may hold.
std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  ir::registerWeftDialect(registry);
  registry.insert<model::ModelDialect, task::TaskDialect>();
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false); // errors show the line of the model file instead
  return context;
}

// The module behind the phases, up to the last one or to the one where to stop.
absl::Status runPhases(Lowering &lowering, const CompileOptions &options, const FirstError &errors,
                       Candidates &candidates) {
  int number = 0;
  for (Phase phase : allPhases()) {
    if (failed(runPhase(lowering, phase, options.cluster, candidates))) {
      return wrongModel(lowering.job, errors, std::string(nameOf(phase)) + " failed");
    }
    if (!options.dumpIr.empty()) {
      WEFT_RETURN_IF_ERROR(dump(*lowering.module, options.dumpIr, ++number, phase));
    }
    if (options.stopAfter == phase) {
      break;
    }
  }
  return absl::OkStatus();
}

// What of a rank's memory is not the plan's; empty if all is.
std::string reserveText(const Cluster &cluster) {
  const int64_t reserve = cluster.calibration().reserve_bytes();
  return reserve == 0 ? ""
                      : absl::StrCat("\n  device.memory_bytes is ", cluster.device().memory_bytes(),
                                     ", of which calibration.reserve_bytes keeps ", reserve);
}

// Proves that a plan does what it should, and adds the prediction. A plan that does not fit is refused with what would.
absl::Status finish(const Job &job, const Cluster &cluster, Candidates &candidates, plan::Plan &plan) {
  plan::VerifyOptions verify;
  verify.device_bytes = plan::PlanBytesOf(cluster);
  const absl::Status verified = plan::Verify(plan, verify);
  if (absl::IsResourceExhausted(verified)) {
    return absl::InvalidArgumentError(absl::StrCat("the plan does not fit: ", verified.message(), reserveText(cluster),
                                                   remedies(job, cluster, plan, candidates)));
  }
  if (!verified.ok()) {
    return absl::InternalError(absl::StrCat("the compiled plan does not verify: ", verified.message()));
  }
  absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(cluster));
  if (!report.ok()) {
    return absl::InternalError(absl::StrCat("the compiled plan cannot be simulated: ", report.status().message()));
  }
  sim::SetPrediction(*report, &plan);
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<Compiled> compile(const CompileOptions &options) {
  const Job job = LocateJob(options.job, options.jobFile);
  std::error_code missing;
  if (!std::filesystem::is_regular_file(job.model().file(), missing)) {
    return absl::NotFoundError(absl::StrCat(job.model().file(), ": expected a model file, found none"));
  }
  WEFT_RETURN_IF_ERROR(checkMicroBatches(job.batch()));
  const std::unique_ptr<mlir::MLIRContext> context = makeContext();
  WEFT_ASSIGN_OR_RETURN(const std::string text, plan::ReadText(job.model().file()));
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, job.model().file()), llvm::SMLoc());
  FirstError errors(sources, context.get());
  Lowering lowering{job, mlir::parseSourceFile<mlir::ModuleOp>(sources, context.get()), {}};
  if (!lowering.module) {
    return wrongModel(job, errors, "does not parse");
  }
  Candidates candidates(*lowering.module, options.cluster);
  WEFT_RETURN_IF_ERROR(runPhases(lowering, options, errors, candidates));
  if (options.stopAfter) {
    return Compiled{{}, textOf(*lowering.module)};
  }
  absl::StatusOr<plan::Plan> plan = planOf(lowering, options.job, options.cluster, options.memorySeed);
  if (!plan.ok()) {
    return plan.status().message().empty() ? wrongModel(job, errors, "emit failed") : plan.status();
  }
  WEFT_RETURN_IF_ERROR(finish(job, options.cluster, candidates, *plan));
  return Compiled{*std::move(plan), ""};
}

} // namespace weft::compiler
