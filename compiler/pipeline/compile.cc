#include "compiler/pipeline/compile.h"

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/lowering.h"
#include "compiler/pipeline/model_file.h"
#include "compiler/pipeline/remedies.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "ops/abi/status_macros.h"

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

// The status of a model that does not compile. Where no error was printed at a line of the model, it says `what`.
absl::Status wrongModel(const Job &job, const FirstError &errors, llvm::StringRef what) {
  return absl::InvalidArgumentError(errors.printed() ? "" : absl::StrCat(job.model().file(), ": ", what.str()));
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

// Proves the plan and adds the prediction. One that does not fit is refused with what would.
absl::Status finish(const Job &job, const Cluster &cluster, Candidates &candidates, plan::Plan &plan) {
  const absl::Status status = proveAndPredict(cluster, cluster.device().memory_bytes(), plan);
  if (!absl::IsResourceExhausted(status)) {
    return status;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the plan does not fit: ", status.message(), remedies(job, cluster, plan, candidates)));
}

} // namespace

absl::StatusOr<Compiled> compile(const CompileOptions &options) {
  const Job job = LocateJob(options.job, options.jobFile);
  WEFT_RETURN_IF_ERROR(checkMicroBatches(job.batch()));
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<ModelFile> file, ModelFile::read(job.model().file()));
  Candidates candidates(file->module(), options.cluster);
  Lowering lowering{job, mlir::OwningOpRef<mlir::ModuleOp>(file->module().clone()), {}};
  WEFT_RETURN_IF_ERROR(runPhases(lowering, options, file->errors(), candidates));
  if (options.stopAfter) {
    return Compiled{{}, textOf(*lowering.module)};
  }
  absl::StatusOr<plan::Plan> plan = planOf(lowering, options.job, options.cluster, options.memorySeed);
  if (!plan.ok()) {
    return plan.status().message().empty() ? wrongModel(job, file->errors(), "emit failed") : plan.status();
  }
  WEFT_RETURN_IF_ERROR(finish(job, options.cluster, candidates, *plan));
  return Compiled{*std::move(plan), ""};
}

} // namespace weft::compiler
