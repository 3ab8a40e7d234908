#include "tools/run/run.h"

#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/registry.h"
#include "ops/cpu_kernels.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/plan/load.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/plan/verify.h"
#include "tools/run/last_resort.h"
#include "tools/run/places.h"
#include "tools/run/processes.h"
#include "tools/run/request.h"
#include "tools/run/train.h"

namespace weft::run {
namespace {

// How long a process whose step has failed may take to end by itself.
constexpr std::chrono::seconds kGrace(5);

// 2: the request, the plan or the data are wrong; 1: anything else.
int ExitStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
      return 2;
    default:
      return 1;
  }
}

std::string TextOf(const absl::Status& status) { return absl::StrCat("weft-run: ", std::string(status.message())); }

// A flag that the plan has no use for.
absl::Status CheckUse(const Request& request, const plan::Plan& plan) {
  const bool training = plan.header().training();
  auto unexpected = [&](const char* flag) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": expected only with a ",
                                                   training ? "function" : "graph that trains", ", got graph `",
                                                   plan.header().graph(), "`"));
  };
  if (training) {
    if (!request.inputs.empty()) return unexpected("--inputs");
    if (!request.outputs.empty()) return unexpected("--outputs");
    if (request.show_shards) return unexpected("--show-shards");
    return absl::OkStatus();
  }
  if (!request.data.empty()) return unexpected("--data");
  if (request.steps.has_value()) return unexpected("--steps");
  if (!request.metrics.empty()) return unexpected("--metrics");
  if (!request.checkpoint_dir.empty()) return unexpected("--checkpoint-dir");
  if (request.allow_nonfinite) return unexpected("--allow-nonfinite");
  return absl::OkStatus();
}

// The same plan on all processes.
absl::Status LoadPlan(const Request& request, Processes& processes, plan::Plan& plan) {
  absl::Status status = plan::LoadInto(request.plan, plan);
  if (status.ok()) {
    status = plan::Verify(plan);
    if (!status.ok()) status = absl::Status(status.code(), absl::StrCat(request.plan, ": ", status.message()));
  }
  if (status.ok() && plan.header().target() != "cpu") {
    status =
        absl::InvalidArgumentError(absl::StrCat(request.plan, ": target: expected cpu, got ", plan.header().target()));
  }
  if (status.ok()) status = CheckUse(request, plan);
  if (status.ok() && processes.first()) status = CheckPlaces(request);
  status = processes.Agree(status);
  if (!status.ok()) return status;
  return processes.CheckEqual(absl::StrCat(request.plan, ": hash"), checkpoint::ToHex(plan.header().hash()));
}

absl::Status RunRequest(const absl::StatusOr<Request>& request, Processes& processes, LastResort& last_resort,
                        std::FILE* out, std::FILE* err) {
  if (absl::Status status = processes.Agree(request.status()); !status.ok()) return status;
  plan::Plan plan;
  if (absl::Status status = LoadPlan(*request, processes, plan); !status.ok()) return status;
  KernelRegistry kernels;
  RegisterCpuKernels(kernels);
  const auto on_fault = [&](const absl::Status& error) {
    last_resort.Arm([&processes, error] {
      const absl::Status failure = processes.alone() ? error : processes.world()->failure();
      return LastResort::Words{processes.tells() ? TextOf(failure) : "", ExitStatus(failure)};
    });
  };
  const Context context{*request, plan, kernels, processes, out, err, on_fault};
  return plan.header().training() ? Train(context) : Evaluate(context);
}

}  // namespace

int Run(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err) {
  const absl::StatusOr<Request> request = ParseRequest(arguments);
  if (request.ok() && request->help) {
    if (IsFirstStarted()) std::fputs(HelpText(), out);
    return 0;
  }
  const int64_t hang_seconds = request.ok() ? request->hang_seconds : 0;
  const auto processes = Processes::Create(std::chrono::seconds(hang_seconds));
  if (!processes.ok()) {
    if (IsFirstStarted()) std::fprintf(err, "%s\n", TextOf(processes.status()).c_str());
    return ExitStatus(processes.status());
  }
  LastResort last_resort(err, kGrace);
  absl::Status status = (*processes)->Conclude(RunRequest(request, **processes, last_resort, out, err));
  if (!status.ok() && (*processes)->tells()) std::fprintf(err, "%s\n", TextOf(status).c_str());
  std::fflush(err);
  const absl::Status finished = (*processes)->Finish();
  if (status.ok() && !finished.ok()) {
    status = finished;
    if ((*processes)->tells()) std::fprintf(err, "%s\n", TextOf(status).c_str());
  }
  return ExitStatus(status);
}

}  // namespace weft::run
