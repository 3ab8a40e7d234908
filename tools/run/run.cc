#include "tools/run/run.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/folder_lock.h"
#include "runtime/checkpoint/snapshot_folder.h"
#include "runtime/collective/mpi/launch.h"
#include "runtime/executor/tier_store.h"
#include "runtime/plan/load.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/proof/verify.h"
#include "runtime/version/version.h"
#include "tools/run/check.h"
#include "tools/run/ending.h"
#include "tools/run/interrupts.h"
#include "tools/run/places.h"
#include "tools/run/processes.h"
#include "tools/run/request.h"
#include "tools/run/target.h"
#include "tools/run/train.h"

namespace weft::run {
namespace {

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
  if (request.resume) return unexpected("--resume");
  if (!request.restarted.empty()) return unexpected("--restarted");
  if (!request.lost_hosts.empty()) return unexpected("--lost-host");
  if (!request.checkpoint_every.none()) return unexpected("--checkpoint-every");
  if (request.checkpoint_async.has_value()) return unexpected("--checkpoint-async");
  if (!request.snapshot_every.none()) return unexpected("--snapshot-every");
  if (request.checkpoint_keep > 0) return unexpected("--checkpoint-keep");
  if (!request.eval_data.empty()) return unexpected("--eval-data");
  if (request.allow_nonfinite) return unexpected("--allow-nonfinite");
  if (request.debug_nan) return unexpected("--debug-nan");
  if (request.slow_ranks_every.has_value()) return unexpected("--slow-ranks-every");
  if (!request.compare_replicas_every.none()) return unexpected("--compare-replicas-every");
  if (!request.report.empty()) return unexpected("--report");
  if (!request.tensorboard.empty()) return unexpected("--tensorboard");
  if (request.log_every > 0) return unexpected("--log-every");
  const auto only = [](const char* flag, const char* with) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": expected only with ", with));
  };
  if (!request.checkpoint_dir.empty() && !request.init.empty()) return only("--init", "no --checkpoint-dir");
  if (request.data.empty() && !request.metrics.empty()) return only("--metrics", "--data, or with a graph that trains");
  if (!request.data.empty() && !request.inputs.empty()) return only("--data", "a function that has no --inputs");
  if (!request.data.empty() && request.show_shards) return only("--show-shards", "--inputs");
  return absl::OkStatus();
}

// A folder where the plan keeps something on a disk, and there alone.
absl::Status CheckTierFolder(const Request& request, const plan::Plan& plan) {
  const std::string disk = executor::DiskOf(plan);
  if (disk.empty() == request.tier_dir.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      disk.empty()
          ? absl::StrCat("--tier-dir: expected only with a plan that keeps something on a disk, got ", request.plan)
          : absl::StrCat("--tier-dir: expected a folder for tier `", disk, "` of ", request.plan, ", got none"));
}

// The same plan on all processes; the first one takes the places that are written. A function reads its
// --checkpoint-dir, as --init.
absl::Status LoadPlan(Request& request, Processes& processes, plan::Plan& plan,
                      std::unique_ptr<checkpoint::FolderLock>& folder) {
  absl::Status status = plan::LoadInto(request.plan, plan);
  if (status.ok()) {
    status = plan::Verify(plan);
    if (!status.ok()) status = absl::Status(status.code(), absl::StrCat(request.plan, ": ", status.message()));
  }
  if (status.ok()) status = CheckUse(request, plan);
  if (status.ok()) status = CheckTierFolder(request, plan);
  if (status.ok() && !plan.header().training() && !request.checkpoint_dir.empty())
    request.init = std::exchange(request.checkpoint_dir, "");
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

absl::Status RunRequest(absl::StatusOr<Request>& request, Processes& processes, Ending& ending, std::FILE* out,
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
                        .host_kernels = (*target)->host_kernels,
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

absl::Status DropSnapshots(const std::string& checkpoints) {
  const absl::StatusOr<std::vector<std::string>> folders = checkpoint::ReadSnapshotIndex(checkpoints);
  if (!folders.ok()) return folders.status();
  for (const std::string& folder : *folders) {
    if (absl::Status status = checkpoint::RemoveSnapshots(folder); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

int Run(const std::vector<std::string>& arguments, std::FILE* out, std::FILE* err) {
  const bool launched = collective::StartedByMpi(), first = collective::LaunchedRank() == 0;
  // A launcher may hand on a signal at any time.
  std::optional<Interrupts> interrupts;
  if (launched) interrupts.emplace(true);
  absl::StatusOr<Request> request = ParseRequest(arguments);
  if (request.ok() && request->help) {
    if (first) std::fputs(HelpText(), out);
    return 0;
  }
  if (request.ok() && request->version) {
    if (first) std::fputs(VersionText("weft-run").c_str(), out);
    return 0;
  }
  if (request.ok() && request->drop_snapshots) {
    const absl::Status dropped = DropSnapshots(request->checkpoint_dir);
    if (!dropped.ok()) std::fprintf(err, "weft-run: %s\n", std::string(dropped.message()).c_str());
    return dropped.ok() ? 0 : 1;
  }
  if (request.ok() && request->devices) {
    if (first) std::fputs(DescribeDevices(*request).c_str(), out);
    return 0;
  }
  if (request.ok() && request->check) {
    const absl::StatusOr<std::string> found = CheckMachine(*request);
    if (!found.ok()) std::fprintf(err, "weft-run: %s\n", std::string(found.status().message()).c_str());
    if (found.ok() && first && !request->quiet) std::fprintf(out, "%s\n", found->c_str());
    return ExitStatus(found.status());
  }
  const Request defaults, &times = request.ok() ? *request : defaults;
  return OnProcesses(
      "weft-run", times.hang_seconds, times.lost_seconds, err,
      [&](Processes& processes, Ending& ending) { return RunRequest(request, processes, ending, out, err); });
}

}  // namespace weft::run
