#include "tools/run/run.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/registry.h"
#include "ops/cpu_kernels.h"
#include "runtime/plan/load.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/plan/verify.h"
#include "tools/run/places.h"
#include "tools/run/request.h"
#include "tools/run/train.h"

namespace weft::run {
namespace {

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

absl::Status RunRequest(const Request& request, std::FILE* out, std::FILE* err) {
  plan::Plan plan;
  if (absl::Status status = plan::LoadInto(request.plan, plan); !status.ok()) return status;
  if (absl::Status status = plan::Verify(plan); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(request.plan, ": ", status.message()));
  }
  if (plan.header().target() != "cpu") {
    return absl::InvalidArgumentError(
        absl::StrCat(request.plan, ": target: expected cpu, got ", plan.header().target()));
  }
  if (absl::Status status = CheckUse(request, plan); !status.ok()) return status;
  if (absl::Status status = CheckPlaces(request); !status.ok()) return status;
  KernelRegistry kernels;
  RegisterCpuKernels(kernels);
  const Context context{request, plan, kernels, out, err};
  return plan.header().training() ? Train(context) : Evaluate(context);
}

}  // namespace

int Run(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err) {
  const absl::StatusOr<Request> request = ParseRequest(arguments);
  if (request.ok() && request->help) {
    std::fputs(HelpText(), out);
    return 0;
  }
  const absl::Status status = request.ok() ? RunRequest(*request, out, err) : request.status();
  if (!status.ok()) std::fprintf(err, "weft-run: %s\n", std::string(status.message()).c_str());
  return ExitStatus(status);
}

}  // namespace weft::run
