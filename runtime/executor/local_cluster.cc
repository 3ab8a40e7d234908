#include "runtime/executor/local_cluster.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "runtime/device/host/device.h"

namespace weft::executor {
namespace {

// Looks of a waiting thread before it sleeps. Where every busy thread has a core
// of its own, some 5 microseconds: what it costs to wake a sleeper, so that a
// wait takes at most twice what the better choice would.
constexpr int kSpinsAlone = 200;
constexpr int kSpinsCrowded = 20;

std::vector<int> RanksOf(const plan::Plan& plan) {
  std::vector<int> ranks;
  for (const plan::Stage& stage : plan.stages()) {
    const plan::Placement& placement = plan.placements(stage.placement());
    ranks.insert(ranks.end(), placement.ranks().begin(), placement.ranks().end());
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

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

// Calls `task(i)` for i below `count`, each on a thread of its own.
absl::Status SideBySide(int count, const std::function<absl::Status(int)>& task) {
  std::vector<absl::Status> results(count);
  std::vector<std::thread> threads;
  for (int i = 1; i < count; ++i) threads.emplace_back([&, i] { results[i] = task(i); });
  if (count > 0) results[0] = task(0);
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& result : results) {
    if (!result.ok()) return result;
  }
  return absl::OkStatus();
}

}  // namespace

LocalCluster::LocalCluster(int ranks, int spins) : device_(device::CreateHostDevice()), fabric_(ranks, spins) {
  fault_.AddListener([this](const absl::Status& error) { fabric_.Abort(error); });
}

LocalCluster::~LocalCluster() {
  // Nobody looks at the executors once they go.
  watchdog_.reset();
}

absl::StatusOr<std::unique_ptr<LocalCluster>> LocalCluster::Create(const plan::Plan& plan,
                                                                   const ClusterOptions& options) {
  const std::vector<int> ranks = RanksOf(plan);
  if (ranks.empty()) return absl::InvalidArgumentError("plan: expected a stage with ranks, got none");
  const int cores = std::max<int>(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = options.threads > 0 ? options.threads : std::max<int>(1, cores / static_cast<int>(ranks.size()));
  const int spins = BusyThreadsOf(plan, threads) <= cores ? kSpinsAlone : kSpinsCrowded;
  std::unique_ptr<LocalCluster> cluster(new LocalCluster(ranks.back() + 1, spins));
  for (int rank : ranks) cluster->communicators_.push_back(cluster->fabric_.Join(rank));
  cluster->executors_.resize(ranks.size());
  const absl::Status loaded = SideBySide(static_cast<int>(ranks.size()), [&](int i) -> absl::Status {
    const Services services{.kernels = options.kernels,
                            .device = cluster->device_.get(),
                            .communicator = cluster->communicators_[i].get(),
                            .source = options.source,
                            .sink = options.sink,
                            .fault = &cluster->fault_,
                            .seed = options.seed,
                            .threads = threads,
                            .spins = spins};
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(plan, ranks[i], services);
    if (!executor.ok()) return executor.status();
    cluster->executors_[i] = *std::move(executor);
    return absl::OkStatus();
  });
  if (!loaded.ok()) return loaded;
  std::vector<const actor::Program*> programs;
  for (auto& executor : cluster->executors_) {
    programs.push_back(&executor->actors());
    if (options.timeline != nullptr) executor->actors().Trace(*options.timeline, executor->rank());
    if (options.timeline != nullptr && options.trace_kernels) executor->TraceKernels(*options.timeline);
  }
  if (options.hang_time_out.count() > 0) {
    cluster->watchdog_ = std::make_unique<actor::Watchdog>(options.hang_time_out, programs, &cluster->fault_);
    cluster->watchdog_->Start();
  }
  return cluster;
}

absl::Status LocalCluster::Initialize() {
  return OnEveryRank([](Executor& executor) { return executor.Initialize(); });
}

absl::Status LocalCluster::OnEveryRank(const std::function<absl::Status(Executor&)>& task) {
  return SideBySide(size(), [&](int i) { return task(*executors_[i]); });
}

absl::Status LocalCluster::Step(int64_t step) {
  if (fault_.raised()) return fault_.status();
  for (auto& executor : executors_) executor->BeginStep(step);
  absl::Status status;
  for (auto& executor : executors_) status = executor->EndStep();
  return status;
}

absl::StatusOr<float> LocalCluster::Metric(const std::string& name) {
  for (auto& executor : executors_) {
    absl::StatusOr<float> value = executor->Metric(name);
    if (!absl::IsNotFound(value.status())) return value;
  }
  return absl::NotFoundError(absl::StrCat("plan: no metric `", name, "`"));
}

}  // namespace weft::executor
