#include "tools/run/cluster.h"

#include <sys/resource.h>

#include <algorithm>
#include <thread>

namespace weft::run {
namespace {

// Acts that a timeline keeps of every stream: 5 MiB.
constexpr int64_t kTimelineActs = 1 << 17;

}  // namespace

int RankCountOf(const plan::Plan& plan) {
  int ranks = 0;
  for (const plan::Stage& stage : plan.stages()) ranks += plan.placements(stage.placement()).ranks_size();
  return ranks;
}

int ThreadsOf(const Context& context) {
  if (context.request.threads > 0) return static_cast<int>(context.request.threads);
  const int cores = std::max<int>(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::max(1, cores / RankCountOf(context.plan));
}

int CoresOf(const Context& context) {
  const int cores = std::max<int>(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::min(cores, ThreadsOf(context) * RankCountOf(context.plan));
}

int64_t ArenaBytesOf(const plan::Plan& plan) {
  int64_t bytes = 0;
  for (const plan::Stage& stage : plan.stages()) {
    bytes += stage.arena_bytes() * plan.placements(stage.placement()).ranks_size();
  }
  return bytes;
}

int64_t PeakResidentBytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;  // the kernel counts KiB
}

std::unique_ptr<trace::Timeline> TimelineFor(const Request& request) {
  return request.trace.empty() ? nullptr : std::make_unique<trace::Timeline>(kTimelineActs);
}

absl::StatusOr<std::unique_ptr<executor::LocalCluster>> StartCluster(const Context& context, uint64_t seed,
                                                                     executor::BatchSource* source,
                                                                     executor::ResultSink* sink,
                                                                     trace::Timeline* timeline) {
  auto cluster =
      executor::LocalCluster::Create(context.plan, {.kernels = &context.kernels,
                                                    .source = source,
                                                    .sink = sink,
                                                    .seed = seed,
                                                    .threads = ThreadsOf(context),
                                                    .hang_time_out = std::chrono::seconds(context.request.hang_seconds),
                                                    .timeline = timeline,
                                                    .trace_kernels = context.request.trace_kernels});
  if (!cluster.ok()) return cluster.status();
  if (absl::Status status = (*cluster)->Initialize(); !status.ok()) return status;
  return cluster;
}

}  // namespace weft::run
