#include "tools/run/run.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/folder_lock.h"
#include "runtime/collective/mpi/launch.h"
#include "runtime/plan/load.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/proof/verify.h"
#include "runtime/version/version.h"
#include "tools/run/interrupts.h"
#include "tools/run/last_resort.h"
#include "tools/run/places.h"
#include "tools/run/processes.h"
#include "tools/run/request.h"
#include "tools/run/target.h"
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
  if (request.steps.has_value()) return unexpected("--steps");
  if (!request.checkpoint_dir.empty()) return unexpected("--checkpoint-dir");
  if (request.allow_nonfinite) return unexpected("--allow-nonfinite");
  if (request.debug_nan) return unexpected("--debug-nan");
  if (!request.report.empty()) return unexpected("--report");
  const auto only = [](const char* flag, const char* with) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": expected only with ", with));
  };
  if (request.data.empty() && !request.metrics.empty()) return only("--metrics", "--data, or with a graph that trains");
  if (!request.data.empty() && !request.inputs.empty()) return only("--data", "a function that has no --inputs");
  if (!request.data.empty() && request.show_shards) return only("--show-shards", "--inputs");
  return absl::OkStatus();
}

// The same plan on all processes; the first one takes the places that are written.
absl::Status LoadPlan(const Request& request, Processes& processes, plan::Plan& plan,
                      std::unique_ptr<checkpoint::FolderLock>& folder) {
  absl::Status status = plan::LoadInto(request.plan, plan);
  if (status.ok()) {
    status = plan::Verify(plan);
    if (!status.ok()) status = absl::Status(status.code(), absl::StrCat(request.plan, ": ", status.message()));
  }
  if (status.ok()) status = CheckUse(request, plan);
  if (status.ok() && processes.first()) status = CheckPlaces(request);
  if (status.ok() && processes.first()) {
    auto taken = TakeFolder(request);
    status = taken.status();
    if (status.ok()) folder = *std::move(taken);
  }
  status = processes.Agree(status);
  if (!status.ok()) return status;
  return processes.CheckSame({{"plan: hash", checkpoint::ToHex(plan.header().hash())}});
}

// How a run ends: said once, by one process, and within a time.
class Ending {
 public:
  explicit Ending(std::FILE* err) : err_(err), last_resort_(err, kGrace) {}

  // A step has failed. Any thread. What a lone process says it says at its end,
  // below its progress; one of several may not have the time.
  void Fault(const Processes& processes, const absl::Status& error) {
    if (processes.alone()) return last_resort_.Arm({TextOf(error), ExitStatus(error)});
    const absl::Status failure = processes.failure();
    Tell(processes, failure);
    last_resort_.Arm({"", ExitStatus(failure)});
  }

  void Tell(const Processes& processes, const absl::Status& status) {
    if (status.ok() || told_.exchange(true) || !processes.tells()) return;
    Say(status);
  }

  // This process is the first of several that gives up. Any thread. At once: where one process has ended, a launcher
  // may end the others at any time.
  void TellFirst(const absl::Status& reason) {
    if (!told_.exchange(true)) Say(reason);
  }

  // From here on the process has to end soon.
  void Close(const absl::Status& status) { last_resort_.Arm({"", ExitStatus(status)}); }

 private:
  void Say(const absl::Status& status) {
    std::fprintf(err_, "%s\n", TextOf(status).c_str());
    std::fflush(err_);
  }

  std::FILE* const err_;
  std::atomic<bool> told_{false};
  LastResort last_resort_;
};

absl::Status RunRequest(const absl::StatusOr<Request>& request, Processes& processes, Ending& ending, std::FILE* out,
                        std::FILE* err) {
  if (absl::Status status = processes.Agree(request.status()); !status.ok()) return status;
  if (absl::Status status = processes.CheckSame(SharedOptions(*request)); !status.ok()) return status;
  plan::Plan plan;
  std::unique_ptr<checkpoint::FolderLock> folder;  // until the run ends
  if (absl::Status status = LoadPlan(*request, processes, plan, folder); !status.ok()) return status;
  const absl::StatusOr<std::unique_ptr<Target>> target =
      OpenTarget(plan, *request, processes, [&](const std::string& line) {
        if (!request->quiet && processes.first()) std::fprintf(err, "%s\n", line.c_str());
      });
  if (absl::Status status = processes.Agree(target.status()); !status.ok()) return status;
  if (!(*target)->found.empty() && !request->quiet && processes.first())
    std::fprintf(err, "%s\n", (*target)->found.c_str());
  const Context context{.request = *request,
                        .plan = plan,
                        .kernels = (*target)->kernels,
                        .device = (*target)->device.get(),
                        .communicator = (*target)->nccl.communicator.get(),
                        .processes = processes,
                        .out = out,
                        .err = err,
                        .on_fault = [&](const absl::Status& error) { ending.Fault(processes, error); }};
  if (folder != nullptr && !folder->taken_from().empty())
    context.Tell(
        absl::StrCat(request->checkpoint_dir, ": taken over from ", folder->taken_from(), ", which has ended"));
  return plan.header().training() ? Train(context) : Evaluate(context);
}

}  // namespace

int Run(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err) {
  const bool launched = collective::StartedByMpi(), first = collective::LaunchedRank() == 0;
  // A launcher may hand on a signal at any time.
  std::optional<Interrupts> interrupts;
  if (launched) interrupts.emplace(true);
  const absl::StatusOr<Request> request = ParseRequest(arguments);
  if (request.ok() && request->help) {
    if (first) std::fputs(HelpText(), out);
    return 0;
  }
  if (request.ok() && request->version) {
    if (first) std::fputs(VersionText("weft-run").c_str(), out);
    return 0;
  }
  if (request.ok() && request->devices) {
    if (first) std::fputs(DescribeDevices(*request).c_str(), out);
    return 0;
  }
  Ending ending(err);
  collective::WorldOptions options;
  if (request.ok()) {
    options.time_out = std::chrono::seconds(request->hang_seconds);
    options.silence = std::chrono::seconds(request->lost_seconds);
  }
  options.on_abort = [&](const absl::Status& reason) { ending.TellFirst(reason); };
  const auto made = Processes::Create(options);
  if (!made.ok()) {
    if (first) std::fprintf(err, "%s\n", TextOf(made.status()).c_str());
    return ExitStatus(made.status());
  }
  Processes& processes = **made;
  absl::Status status = processes.Conclude(RunRequest(request, processes, ending, out, err));
  ending.Tell(processes, status);
  if (launched) ending.Close(status);
  const absl::Status finished = processes.Finish();
  if (status.ok()) ending.Tell(processes, status = finished);
  return ExitStatus(status);
}

}  // namespace weft::run
