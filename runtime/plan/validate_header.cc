#include <cmath>
#include <set>

#include "runtime/plan/cluster.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/load.h"
#include "runtime/plan/validate.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

absl::Status CheckDevice(const char* what, const std::string& name) {
  if (FindDeviceKind(name) != nullptr) return absl::OkStatus();
  return InvalidPlan(what, ": expected ", DeviceKindNames(), ", got `", name, "`");
}

}  // namespace

absl::Status CheckHeader(const Header& header) {
  if (header.version() != kPlanVersion) {
    return InvalidPlan("version: expected ", kPlanVersion, ", got ", header.version());
  }
  if (absl::Status status = CheckDevice("target", header.target()); !status.ok()) return status;
  const int64_t micro_batches = header.micro_batches();
  if (micro_batches < 1 || micro_batches > kMaxMicroBatches) {
    return InvalidPlan("micro-batches: expected 1 to ", kMaxMicroBatches, ", got ", micro_batches);
  }
  if (!header.training() && micro_batches != 1) {
    return InvalidPlan("micro-batches of a function: expected 1, got ", micro_batches);
  }
  if (header.tokens_per_step() < 0)
    return InvalidPlan("tokens a step: expected 0 or more, got ", header.tokens_per_step());
  if (!(header.flops_per_step() >= 0) || std::isinf(header.flops_per_step())) {
    return InvalidPlan("FLOPs a step: expected a finite number of 0 or more, got ", header.flops_per_step());
  }
  if (header.has_cluster()) return Under("cluster", CheckCluster(header.cluster()));
  return absl::OkStatus();
}

absl::Status CheckPlacement(const Placement& placement) {
  if (absl::Status status = CheckDevice("device", placement.device()); !status.ok()) return status;
  int64_t places = 1;
  std::set<std::string> names;
  for (const Axis& axis : placement.axes()) {
    if (axis.size() < 1)
      return InvalidPlan("axis `", axis.name(), "`: expected a size of at least 1, got ", axis.size());
    if (!axis.name().empty() && !names.insert(axis.name()).second) {
      return InvalidPlan("axis `", axis.name(), "`: listed twice");
    }
    if (axis.size() > (int64_t{1} << 31) / places) return InvalidPlan("mesh: expected at most 2^31 places, got more");
    places *= axis.size();
  }
  if (places != placement.ranks_size()) {
    return InvalidPlan("ranks: expected ", places, " (the product of the axes), got ", placement.ranks_size());
  }
  std::set<int32_t> ranks;
  for (int32_t rank : placement.ranks()) {
    if (rank < 0) return InvalidPlan("rank: expected 0 or more, got ", rank);
    if (rank >= kMaxRanks) return InvalidPlan("rank: expected less than ", kMaxRanks, ", got ", rank);
    if (!ranks.insert(rank).second) return InvalidPlan("rank ", rank, ": listed twice");
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
