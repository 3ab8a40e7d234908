#include "runtime/executor/local_cluster.h"

#include <algorithm>
#include <thread>

namespace weft::executor {
namespace {

// Looks of a waiting thread before it sleeps. Where every busy thread has a core
// of its own, some 5 microseconds: what it costs to wake a sleeper, so that a
// wait takes at most twice what the better choice would.
constexpr int kSpinsAlone = 200;
constexpr int kSpinsCrowded = 20;

int Cores() { return std::max<int>(1, static_cast<int>(std::thread::hardware_concurrency())); }

// Threads that want a core at a time: a kernel runs on `threads`. Streams of
// kind HOST fill a batch now and then and sleep for the rest of the step.
int64_t BusyThreadsOf(const plan::Plan& plan, int64_t threads) {
  int64_t busy = 0;
  for (const plan::Stage& stage : plan.stages()) {
    const int64_t ranks = plan.placements(stage.placement()).ranks_size();
    for (const plan::Stream& stream : stage.streams()) {
      if (stream.kind() != plan::Stream::HOST) busy += ranks * (stream.kind() == plan::Stream::COMPUTE ? threads : 1);
    }
  }
  return busy;
}

}  // namespace

int SpinsFor(int64_t busy_threads) { return busy_threads <= Cores() ? kSpinsAlone : kSpinsCrowded; }

LocalCluster::LocalCluster(int ranks, int spins, Gpu* gpu) : fabric_(ranks, spins, gpu) {
  fault().AddListener([this](const absl::Status& error) { fabric_.Abort(error); });
}

LocalCluster::~LocalCluster() { Unload(); }

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Create(const plan::Plan& plan,
                                                                   const ClusterOptions& options) {
  LoadArguments arguments{.ranks = RanksOf(plan)};
  if (arguments.ranks.empty()) return absl::InvalidArgumentError("plan: expected a stage with ranks, got none");
  const int cores = Cores();
  arguments.threads =
      options.threads > 0 ? options.threads : std::max<int>(1, cores / static_cast<int>(arguments.ranks.size()));
  arguments.spins = SpinsFor(BusyThreadsOf(plan, arguments.threads));
  std::unique_ptr<LocalCluster> cluster(new LocalCluster(arguments.ranks.back() + 1, arguments.spins,
                                                         options.device != nullptr ? options.device->gpu() : nullptr));
  for (int rank : arguments.ranks) {
    cluster->communicators_.push_back(cluster->fabric_.Join(rank));
    arguments.communicators.push_back(cluster->communicators_.back().get());
  }
  if (absl::Status status = cluster->Load(plan, options, arguments); !status.ok()) return status;
  return cluster;
}

}  // namespace weft::executor
