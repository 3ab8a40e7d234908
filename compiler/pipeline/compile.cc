#include "compiler/pipeline/compile.h"

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/codegen/plan_code.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/evaluation.h"
#include "compiler/pipeline/lowering.h"
#include "compiler/pipeline/model_source.h"
#include "compiler/pipeline/remedies.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
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

// The module behind the phases, up to the last one or to the one where to stop.
absl::Status runPhases(Lowering &lowering, const CompileOptions &options, const ModelSource &source,
                       Candidates &candidates) {
  int number = 0;
  for (Phase phase : allPhases()) {
    if (failed(runPhase(lowering, phase, options.cluster, candidates))) {
      return source.wrong(std::string(nameOf(phase)) + " failed");
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

bool exceedsDevice(const plan::Plan &plan, int64_t bytes) {
  return bytes > 0 &&
         llvm::any_of(plan.stages(), [&](const plan::Stage &stage) { return stage.arena_bytes() > bytes; });
}

} // namespace

absl::Status checkMicroBatches(const Batch &batch) {
  if (MicroBatches(batch) <= plan::kMaxMicroBatches) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("batch.global: expected at most ", plan::kMaxMicroBatches,
                                                 " micro-batches of ", batch.micro(), ", got ", batch.global()));
}

absl::Status certify(const Job &job, const Cluster &cluster, Candidates *candidates, plan::Plan &plan) {
  plan::VerifyOptions verify;
  verify.device_bytes = plan::PlanBytesOf(cluster);
  const absl::Status verified = plan::Verify(plan, verify);
  if (absl::IsResourceExhausted(verified)) {
    const std::string fault = absl::StrCat("the plan does not fit: ", verified.message());
    if (!exceedsDevice(plan, verify.device_bytes)) { // but a tier below it
      return absl::InvalidArgumentError(fault);
    }
    return absl::InvalidArgumentError(
        absl::StrCat(fault, reserveText(cluster), candidates ? remedies(job, cluster, plan, *candidates) : ""));
  }
  if (!verified.ok()) {
    return absl::InternalError(absl::StrCat("the compiled plan does not verify: ", verified.message()));
  }
  WEFT_RETURN_IF_ERROR(addCode(plan));
  absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(cluster));
  if (!report.ok()) {
    return absl::InternalError(absl::StrCat("the compiled plan cannot be simulated: ", report.status().message()));
  }
  sim::SetPrediction(*report, &plan);
  return absl::OkStatus();
}

absl::StatusOr<Compiled> compile(const CompileOptions &options) {
  if (options.job.graph().auto_parallel()) {
    return absl::InvalidArgumentError(
        "graph.auto_parallel: expected a job whose layout is chosen, got one that asks for it");
  }
  const Job job = LocateJob(options.job, options.jobFile);
  WEFT_RETURN_IF_ERROR(checkMicroBatches(job.batch()));
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<ModelSource> source, ModelSource::read(job));
  Lowering lowering{job, mlir::OwningOpRef<mlir::ModuleOp>(source->module().clone()), {}};
  Candidates candidates(*lowering.module, options.cluster);
  WEFT_RETURN_IF_ERROR(runPhases(lowering, options, *source, candidates));
  if (options.stopAfter) {
    return Compiled{{}, textOf(*lowering.module)};
  }
  absl::StatusOr<plan::Plan> plan = planOf(lowering, options.job, options.cluster, options.memorySeed);
  if (!plan.ok()) {
    return plan.status().message().empty() ? source->wrong("emit failed") : plan.status();
  }
  WEFT_RETURN_IF_ERROR(certify(job, options.cluster, &candidates, *plan));
  WEFT_RETURN_IF_ERROR(addEvaluation(options, *plan));
  return Compiled{*std::move(plan), ""};
}

} // namespace weft::compiler
