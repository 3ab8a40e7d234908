#include "tools/run/check.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "runtime/code/code.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/load.h"
#include "runtime/plan/names.h"
#include "runtime/plan/plan.pb.h"
#include "tools/run/cluster.h"
#include "tools/run/memory.h"
#include "tools/run/processes.h"
#include "tools/run/target.h"

namespace weft::run {
namespace {

absl::Status CheckCode(const Request& request, const plan::Plan& plan) {
  for (const plan::Code* code : {&plan.code(), &plan.host_code()}) {
    if (code->symbols().empty()) continue;
    const absl::Status status = code::Load(*code).status();
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(request.plan, ": ", status.message()));
  }
  return absl::OkStatus();
}

// The largest of all ranks, in bytes.
int64_t LargestArenaOf(const plan::Plan& plan) {
  int64_t largest = 0;
  for (int s = 0; s < plan.stages_size(); ++s) largest = std::max(largest, plan::ArenaBytesOf(plan, s));
  return largest;
}

// Of a host's memory; a GPU says itself what it has.
absl::Status CheckArena(const Request& request, const plan::Plan& plan) {
  const int64_t needed = LargestArenaOf(plan), there = HostBytes();
  if (!plan::IsHost(plan.header().target()) || there <= 0 || needed <= there) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(request.plan, ": host memory: expected at least ",
                                                   plan::BytesText(needed), ", which a rank takes, got ",
                                                   plan::BytesText(there)));
}

absl::Status CheckCheckpoints(const std::string& folder) {
  if (folder.empty()) return absl::OkStatus();
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    return absl::InvalidArgumentError(absl::StrCat("--checkpoint-dir: ", folder, ": expected a folder, found none"));
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--checkpoint-dir: ", folder, ": expected a folder that can be written: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> CheckMachine(const Request& request) {
  plan::Plan plan;
  absl::Status status = plan::LoadInto(request.plan, plan);
  if (status.ok()) status = CheckCode(request, plan);
  if (status.ok()) status = CheckArena(request, plan);
  if (status.ok()) status = CheckCheckpoints(request.checkpoint_dir);
  if (!status.ok()) return status;
  const std::unique_ptr<Processes> alone = Processes::Alone();
  const absl::StatusOr<std::unique_ptr<Target>> target = OpenTarget(plan, request, *alone, [](const std::string&) {});
  if (!target.ok()) return target.status();
  const int ranks = RankCountOf(plan);
  return absl::StrCat(request.plan, ": can be run here, ", ranks, ranks == 1 ? " rank of " : " ranks of at most ",
                      plan::BytesText(LargestArenaOf(plan)), (*target)->found.empty() ? "" : "\n", (*target)->found);
}

}  // namespace weft::run
