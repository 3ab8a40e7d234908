#include "tools/run/cluster.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/executor/local_cluster.h"
#include "runtime/executor/process_cluster.h"
#include "runtime/plan/layout.h"
#include "runtime/sim/notes.h"
#include "runtime/trace/file.h"
#include "tools/run/memory.h"
#include "tools/run/peak.h"

namespace weft::run {
namespace {

// Acts that a timeline keeps of every stream: 5 MiB.
constexpr int64_t kTimelineActs = 1 << 17;

int Cores() { return std::max<int>(1, static_cast<int>(std::thread::hardware_concurrency())); }

// A process's own part of a timeline.
std::string PartOf(const std::string& path, int rank) { return absl::StrCat(path, ".rank-", rank); }

absl::StatusOr<std::unique_ptr<executor::Cluster>> CreateCluster(const Context& context,
                                                                 const executor::ClusterOptions& options) {
  if (context.processes.alone()) return executor::LocalCluster::Create(context.plan, options);
  return executor::ProcessCluster::Create(context.plan, context.processes.world(), options, context.communicator);
}

// The cluster of a plan, and that of its evaluation.
absl::StatusOr<std::unique_ptr<executor::Cluster>> CreateClusters(const Context& context,
                                                                  const executor::ClusterOptions& options,
                                                                  const std::set<std::string>& loaded, Beside* beside) {
  auto cluster = CreateCluster(context, options);
  if (!cluster.ok()) return cluster;
  RankMemory memory = MemoryOf(context, **cluster);
  if (beside != nullptr) {
    executor::ClusterOptions own = options;
    own.source = beside->source;
    own.sink = beside->sink;
    own.timeline = nullptr;
    own.guest = nullptr;
    own.host = cluster->get();
    auto evaluation = CreateCluster(beside->context, own);
    if (!evaluation.ok()) return evaluation.status();
    beside->cluster = *std::move(evaluation);
    memory = MemoryOf(context, **cluster);
    memory.workspaces += MemoryOf(beside->context, *beside->cluster).workspaces;
  }
  // Ranks of one process share what its device has, and it is the device that says if they do not fit.
  const absl::Status fits = context.processes.alone() ? absl::OkStatus() : CheckMemory(context.plan, memory);
  if (!fits.ok()) return fits;
  if (options.host != nullptr) return cluster;
  if (absl::Status status = (*cluster)->Initialize(loaded); !status.ok()) return status;
  return cluster;
}

}  // namespace

RankMemory MemoryOf(const Context& context, executor::Cluster& cluster) {
  int64_t workspaces = 0;
  for (int i = 0; i < cluster.size(); ++i) workspaces += cluster.executor(i).workspace_bytes();
  if (context.processes.alone()) return {.arena = ArenaBytesOf(context.plan), .workspaces = workspaces};
  return {.arena = cluster.executor(0).arena_bytes(),
          .staging = context.processes.world()->communicator().staging_bytes(),
          .workspaces = workspaces};
}

int RankCountOf(const plan::Plan& plan) {
  int ranks = 0;
  for (const plan::Stage& stage : plan.stages()) ranks += plan.placements(stage.placement()).ranks_size();
  return ranks;
}

int ThreadsOf(const Context& context) {
  if (context.request.threads > 0) return static_cast<int>(context.request.threads);
  if (!context.processes.alone()) return executor::CoresOf(*context.processes.world());
  return std::max(1, Cores() / RankCountOf(context.plan));
}

std::optional<double> PeakOf(const Context& context, DType dtype) {
  if (context.device != nullptr) {
    // The cluster file knows the rate of a GPU, which the virtual ranks of one process share.
    const double rate = context.plan.header().cluster().device().contraction_flops() *
                        (context.processes.alone() ? 1 : context.processes.size());
    return rate > 0 ? std::optional<double>(rate) : std::nullopt;
  }
  Processes& processes = context.processes;
  const int here = processes.alone() ? RankCountOf(context.plan) : processes.world()->ranks_on_host();
  const std::optional<double> peak = MeasurePeak(context.kernels, dtype, std::min(Cores(), ThreadsOf(context) * here));
  if (!peak.has_value()) return peak;
  return *peak * RankCountOf(context.plan) / here;  // as many on each of the hosts
}

int64_t ArenaBytesOf(const plan::Plan& plan) {
  int64_t bytes = 0;
  for (int s = 0; s < plan.stages_size(); ++s) {
    bytes += plan::ArenaBytesOf(plan, s) * plan.placements(plan.stages(s).placement()).ranks_size();
  }
  return bytes;
}

std::string TextOfGraphs(const Context& context, executor::Cluster& cluster) {
  if (context.device == nullptr) return "";
  if (!context.request.cuda_graphs) return "CUDA graphs: off";
  if (context.request.trace_kernels) return "CUDA graphs: off, as --trace-kernels shows kernels one by one";
  if (context.request.debug_nan) return "CUDA graphs: off, as --debug-nan looks at kernels one by one";
  executor::GraphCounts all;
  for (int i = 0; i < cluster.size(); ++i) {
    const executor::GraphCounts& counts = cluster.executor(i).graphs().counts();
    all.segments += counts.segments;
    all.acts += counts.acts;
    all.acts_a_step += counts.acts_a_step;
  }
  return absl::StrCat("CUDA graphs: ", all.segments, " with ", all.acts, " of the ", all.acts_a_step, " acts of a step",
                      context.processes.alone() ? "" : absl::StrCat(" of rank ", context.processes.rank()));
}

std::string TextOfTiers(const Context& context, executor::Cluster& cluster) {
  const Cluster& planned = context.plan.header().cluster();
  for (int t = 0; t < planned.tier_size(); ++t) {
    const std::string refusal = cluster.executor(0).RefusalOf(t);
    if (refusal.empty()) continue;
    return absl::StrCat("tier `", planned.tier(t).name(),
                        "`: one read or write at a time, as io_uring is refused: ", refusal);
  }
  return "";
}

std::string TextOfUnrecorded(executor::Cluster& cluster) {
  for (int i = 0; i < cluster.size(); ++i) {
    const absl::Status status = cluster.executor(i).graphs().status();
    if (!status.ok())
      return absl::StrCat("CUDA graphs: part of a step is not replayed: ", std::string(status.message()));
  }
  return "";
}

absl::StatusOr<std::unique_ptr<trace::Timeline>> TimelineFor(const Context& context) {
  if (context.request.trace.empty()) return nullptr;
  // They leave together.
  if (absl::Status status = context.processes.Agree(absl::OkStatus()); !status.ok()) return status;
  auto timeline = std::make_unique<trace::Timeline>(kTimelineActs);
  timeline->Annotate(sim::NotesOf(context.plan));
  return timeline;
}

absl::Status WriteTimeline(const Context& context, const trace::Timeline& timeline, bool failed) {
  const std::string& path = context.request.trace;
  Processes& processes = context.processes;
  if (processes.alone()) return timeline.Write(path);
  const absl::Status written = timeline.Write(PartOf(path, processes.rank()));
  if (failed) return written;
  if (absl::Status status = processes.Agree(written); !status.ok()) return status;
  absl::Status merged;
  if (processes.first()) {
    std::vector<std::string> parts;
    for (int r = 0; r < processes.size(); ++r) parts.push_back(PartOf(path, r));
    merged = trace::MergeFiles(parts, path);
  }
  return processes.Agree(merged);
}

absl::StatusOr<std::unique_ptr<executor::Cluster>> StartCluster(const Context& context, uint64_t seed,
                                                                executor::BatchSource* source,
                                                                executor::ResultSink* sink, trace::Timeline* timeline,
                                                                const std::set<std::string>& loaded, const Turns& turns,
                                                                Beside* beside) {
  auto cluster = CreateClusters(context,
                                {.kernels = &context.kernels,
                                 .host_kernels = context.device == nullptr ? &context.kernels : &context.host_kernels,
                                 .source = source,
                                 .sink = sink,
                                 .seed = seed,
                                 .threads = ThreadsOf(context),
                                 .hang_time_out = std::chrono::seconds(context.request.hang_seconds),
                                 .timeline = timeline,
                                 .trace_kernels = context.request.trace_kernels,
                                 .guest = beside != nullptr ? &beside->context.plan : turns.guest,
                                 .host = turns.host,
                                 .device = context.device,
                                 .graphs = context.request.cuda_graphs && !context.request.debug_nan,
                                 .on_fault = [&context](const absl::Status& error) { context.on_fault(error); },
                                 .tier_folder = context.request.tier_dir},
                                loaded, beside);
  if (absl::Status status = context.processes.Agree(cluster.status()); !status.ok()) return status;
  if (absl::Status status = context.processes.Agree((*cluster)->Connect()); !status.ok()) return status;
  return cluster;
}

}  // namespace weft::run
