#include "tools/run/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/names.h"

namespace weft::run {
namespace {

// A line of /proc/self/status in bytes; 0 if there is none.
int64_t StatusBytes(const char* format) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  int64_t kib = 0;
  char line[256];
  while (std::fgets(line, sizeof(line), file) != nullptr && std::sscanf(line, format, &kib) != 1) {
  }
  std::fclose(file);
  return kib * 1024;
}

}  // namespace

int64_t PeakResidentBytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;  // the kernel counts KiB
}

int64_t HostBytes() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

Growth::Growth() : before_(StatusBytes("VmRSS: %" SCNd64 " kB")) {}

int64_t Growth::bytes() const { return std::max<int64_t>(0, PeakResidentBytes() - before_); }

absl::StatusOr<std::vector<RankMemory>> GatherMemory(Processes& processes, const RankMemory& own) {
  static_assert(std::is_trivially_copyable_v<RankMemory>);
  const auto words = processes.AllGather(std::string(reinterpret_cast<const char*>(&own), sizeof(own)));
  if (!words.ok()) return words.status();
  std::vector<RankMemory> ranks(words->size());
  for (size_t r = 0; r < ranks.size(); ++r) {
    if ((*words)[r].size() == sizeof(RankMemory)) std::memcpy(&ranks[r], (*words)[r].data(), sizeof(RankMemory));
  }
  return ranks;
}

std::string TextBeside(const RankMemory& memory) {
  std::string text;
  for (const auto& [bytes, what] : {std::pair(memory.staging, " for messages"),
                                    {memory.workspaces, " for kernels"},
                                    {memory.copy, " for checkpoints"},
                                    {memory.snapshots, " for snapshots"}}) {
    if (bytes > 0) absl::StrAppend(&text, text.empty() ? ", and " : " and ", plan::BytesText(bytes), what);
  }
  return text.empty() ? text : text + " beside it";
}

absl::Status CheckMemory(const plan::Plan& plan, const RankMemory& own) {
  const int64_t there = plan::PlanBytesOf(plan.header().cluster());
  // The verifier has looked at the arenas.
  const int64_t beside = own.staging + own.workspaces + own.copy + own.snapshots;
  if (there == 0 || beside == 0 || own.arena + beside <= there) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("memory: expected at most ", plan::BytesText(there),
                                                   ", as a device of the cluster has, got ", plan::BytesText(own.arena),
                                                   " planned", TextBeside(own)));
}

std::string TextOfMemory(const plan::Plan& plan, const std::vector<RankMemory>& ranks) {
  std::string text;
  for (int s = 0; s < plan.stages_size(); ++s) {
    const auto& members = plan.placements(plan.stages(s).placement()).ranks();
    const auto less = [&](int a, int b) { return ranks[a].measured < ranks[b].measured; };
    const auto [least, most] = std::minmax_element(members.begin(), members.end(), less);
    const auto measured = [&](int rank) {
      return absl::StrCat(plan::BytesText(ranks[rank].measured), " (rank ", rank, ")");
    };
    absl::StrAppend(&text, "stage ", s, ": ", plan::BytesText(ranks[*most].arena), " planned",
                    members.size() > 1 ? " a rank" : "", ", ",
                    ranks[*most].staging > 0 ? plan::BytesText(ranks[*most].staging) + " for messages, " : "",
                    ranks[*most].copy > 0 ? plan::BytesText(ranks[*most].copy) + " for checkpoints, " : "",
                    ranks[*most].snapshots > 0 ? plan::BytesText(ranks[*most].snapshots) + " for snapshots, " : "",
                    *least == *most ? "" : measured(*least) + " to ", measured(*most), " measured\n");
  }
  return text;
}

}  // namespace weft::run
