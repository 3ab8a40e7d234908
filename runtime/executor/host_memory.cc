#include "runtime/executor/host_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/names.h"

namespace weft::executor {
namespace {

// The stage that runs on the rank.
int StageOf(const plan::Plan& plan, int rank) {
  int s = 0;
  for (const plan::Stage& stage : plan.stages()) {
    const auto& ranks = plan.placements(stage.placement()).ranks();
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) break;
    ++s;
  }
  return s;
}

}  // namespace

RankBytes BytesOfRank(const plan::Plan& plan, const plan::Plan* guest, int rank) {
  const int stage = StageOf(plan, rank);
  RankBytes most;
  for (const plan::Plan* one : {&plan, guest}) {
    if (one == nullptr) continue;
    const auto& tiers = one->stages(stage).tier_bytes();
    most.arena = std::max<int64_t>(most.arena, one->stages(stage).arena_bytes());
    most.tiers.resize(std::max<size_t>(most.tiers.size(), tiers.size()), 0);
    for (int t = 0; t < tiers.size(); ++t) most.tiers[t] = std::max<int64_t>(most.tiers[t], tiers[t]);
  }
  return most;
}

HostMemory HostMemoryOf(const plan::Plan& plan, const plan::Plan* guest, const std::vector<int>& ranks, bool arenas) {
  HostMemory memory{.ranks = static_cast<int>(ranks.size())};
  std::vector<int64_t> tiers(plan.header().cluster().tier_size(), 0);
  for (const int rank : ranks) {
    const RankBytes bytes = BytesOfRank(plan, guest, rank);
    if (arenas) memory.arenas += bytes.arena;
    for (size_t t = 0; t < bytes.tiers.size(); ++t) tiers[t] += bytes.tiers[t];
  }
  for (size_t t = 0; t < tiers.size(); ++t) {
    const Tier& tier = plan.header().cluster().tier(static_cast<int>(t));
    if (tier.kind() == Tier::HOST && tiers[t] > 0) memory.tiers.emplace_back(tier.name(), tiers[t]);
  }
  return memory;
}

absl::Status CheckHostMemory(const HostMemory& memory, int64_t available) {
  int64_t needed = memory.arenas;
  std::vector<std::string> parts;
  if (memory.arenas > 0) parts.push_back(plan::BytesText(memory.arenas) + " of arenas");
  for (const auto& [name, bytes] : memory.tiers) {
    needed += bytes;
    parts.push_back(absl::StrCat(plan::BytesText(bytes), " of tier `", name, "`"));
  }
  if (available < 0 || needed <= available) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("host memory: expected at most the ", available, " bytes available, got ", needed, " for ",
                   memory.ranks, memory.ranks == 1 ? " rank: " : " ranks: ", absl::StrJoin(parts, ", ")));
}

}  // namespace weft::executor
