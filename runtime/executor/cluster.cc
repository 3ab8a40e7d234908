#include "runtime/executor/cluster.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/device/host/device.h"

namespace weft::executor {
namespace {

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

Cluster::Cluster() : host_(device::CreateHostDevice()) {}

Cluster::~Cluster() { Unload(); }

void Cluster::Unload() {
  // Nobody looks at the executors once they go.
  watchdog_.reset();
  executors_.clear();
}

namespace {

// The code of a plan, null if it has none.
absl::StatusOr<std::shared_ptr<const code::Code>> CodeOf(const plan::Plan& plan) {
  if (plan.code().symbols().empty()) return nullptr;
  return code::Load(plan.code());
}

}  // namespace

absl::Status Cluster::Load(const plan::Plan& plan, const ClusterOptions& options, const LoadArguments& arguments) {
  auto code = CodeOf(plan);
  if (!code.ok()) return code.status();
  if (options.on_fault) fault_.AddListener(options.on_fault);
  executors_.resize(arguments.ranks.size());
  const absl::Status loaded = SideBySide(static_cast<int>(arguments.ranks.size()), [&](int i) -> absl::Status {
    device::Device* const device = arguments.devices.empty() ? options.device : arguments.devices[i];
    const Services services{.kernels = options.kernels,
                            .device = device != nullptr ? device : host_.get(),
                            .communicator = arguments.communicators[i],
                            .source = options.source,
                            .sink = options.sink,
                            .fault = &fault_,
                            .code = *code,
                            .seed = options.seed,
                            .threads = arguments.threads,
                            .spins = arguments.spins,
                            .graphs = options.graphs && !(options.timeline != nullptr && options.trace_kernels),
                            .status_words = arguments.status_words,
                            .training = options.training == nullptr ? nullptr : &options.training->executor(i)};
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(plan, arguments.ranks[i], services);
    if (!executor.ok()) return executor.status();
    executors_[i] = *std::move(executor);
    return absl::OkStatus();
  });
  if (!loaded.ok()) return loaded;
  std::vector<const actor::RankProgram*> programs;
  for (auto& executor : executors_) {
    programs.push_back(&executor->actors());
    if (options.timeline != nullptr) executor->actors().Trace(*options.timeline, executor->rank());
    if (options.timeline != nullptr && options.trace_kernels) executor->TraceKernels(*options.timeline);
  }
  if (options.hang_time_out.count() > 0) {
    watchdog_ = std::make_unique<actor::Watchdog>(options.hang_time_out, programs, &fault_, arguments.elsewhere,
                                                  arguments.grace);
    watchdog_->Start();
  }
  return absl::OkStatus();
}

absl::Status Cluster::Initialize() {
  return OnEveryRank([](Executor& executor) { return executor.Initialize(); });
}

absl::Status Cluster::OnEveryRank(const std::function<absl::Status(Executor&)>& task) {
  return SideBySide(size(), [&](int i) { return task(*executors_[i]); });
}

absl::Status Cluster::Step(int64_t step) {
  Begin(step);
  return End();
}

void Cluster::Begin(int64_t step) {
  begun_ = !fault_.raised();  // else End() says so
  if (!begun_) return;
  for (auto& executor : executors_) executor->BeginStep(step);
}

absl::Status Cluster::End() {
  if (!std::exchange(begun_, false)) return fault_.status();
  absl::Status status;
  for (auto& executor : executors_) status = executor->EndStep();
  return status;
}

absl::StatusOr<float> Cluster::Metric(const std::string& name) {
  for (auto& executor : executors_) {
    absl::StatusOr<float> value = executor->Metric(name);
    if (!absl::IsNotFound(value.status())) return value;
  }
  return absl::NotFoundError(absl::StrCat("no metric `", name, "` on the ranks of this process"));
}

}  // namespace weft::executor
