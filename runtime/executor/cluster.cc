#include "runtime/executor/cluster.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/device/host/available.h"
#include "runtime/device/host/device.h"
#include "runtime/executor/host_memory.h"
#include "runtime/plan/names.h"
#include "runtime/plan/program.h"

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

// Code of a plan, null if it has none.
absl::StatusOr<std::shared_ptr<const code::Code>> Load(const plan::Code& code) {
  if (code.symbols().empty()) return nullptr;
  return code::Load(code);
}

// What a stage keeps, and where: "f32[4,8] B at 128" by name.
std::map<std::string, std::string> StateOf(const plan::Program& program) {
  std::map<std::string, std::string> state;
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    const plan::Buffer& buffer = program.buffer(b);
    if (!program.persistent[b] || program.root[b] != b) continue;
    state[buffer.name()] =
        absl::StrCat(plan::TypeText(buffer), " ", plan::SbpText(*program.placement, buffer), " at ", buffer.offset(),
                     buffer.tier() == 0 ? "" : absl::StrCat(" of tier ", buffer.tier() - 1));
  }
  return state;
}

// What ranks are about to take; a guest takes nothing.
absl::Status CheckMemory(const plan::Plan& plan, const ClusterOptions& options, const std::vector<int>& ranks,
                         bool arenas_on_host) {
  if (options.host != nullptr) return absl::OkStatus();
  return CheckHostMemory(HostMemoryOf(plan, options.guest, ranks, arenas_on_host), device::AvailableBytes());
}

}  // namespace

absl::Status CheckSameState(const plan::Plan& host, const plan::Plan& guest) {
  const auto differs = [](const std::string& what, const std::string& expected, const std::string& got) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": expected ", expected, ", as in the other plan, got ", got));
  };
  const std::vector<plan::Program> hosts = plan::ProgramsOf(host), guests = plan::ProgramsOf(guest);
  if (hosts.size() != guests.size() || RanksOf(host) != RanksOf(guest)) {
    return differs("plan", plan::RanksAndMeshText(host), plan::RanksAndMeshText(guest));
  }
  for (size_t s = 0; s < hosts.size(); ++s) {
    const auto expected = StateOf(hosts[s]), got = StateOf(guests[s]);
    for (const auto* one : {&expected, &got}) {
      for (const auto& [name, where] : *one) {
        const auto a = expected.find(name), b = got.find(name);
        const std::string first = a == expected.end() ? "none" : a->second,
                          second = b == got.end() ? "none" : b->second;
        if (first != second) return differs(absl::StrCat("stage ", s, ": `", name, "`"), first, second);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Cluster::Load(const plan::Plan& plan, const ClusterOptions& options, const LoadArguments& arguments) {
  const auto code = executor::Load(plan.code()), host_code = executor::Load(plan.host_code());
  for (const auto* each : {&code, &host_code}) {
    if (!each->ok()) return each->status();
  }
  const auto device_of = [&](size_t i) {
    device::Device* const device = arguments.devices.empty() ? options.device : arguments.devices[i];
    return device != nullptr ? device : host_.get();
  };
  const bool on_host = arguments.ranks.empty() || device_of(0)->host_addressable();
  if (absl::Status status = CheckMemory(plan, options, arguments.ranks, on_host); !status.ok()) return status;
  if (options.on_fault) fault_.AddListener(options.on_fault);
  executors_.resize(arguments.ranks.size());
  const absl::Status loaded = SideBySide(static_cast<int>(arguments.ranks.size()), [&](int i) -> absl::Status {
    const int rank = arguments.ranks[i];
    const RankBytes bytes = BytesOfRank(plan, options.guest, rank);
    const Executor* const host = options.host == nullptr ? nullptr : &options.host->executor(i);
    const Services services{.kernels = options.kernels,
                            .host_kernels = options.host_kernels,
                            .device = device_of(i),
                            .communicator = arguments.communicators[i],
                            .source = options.source,
                            .sink = options.sink,
                            .fault = &fault_,
                            .code = *code,
                            .host_code = *host_code,
                            .arena = host == nullptr ? nullptr : host->arena(),
                            .least_arena_bytes = bytes.arena,
                            .tiers = host == nullptr ? TierStores() : host->tiers(),
                            .least_tier_bytes = bytes.tiers,
                            .tier_folder = options.tier_folder,
                            .first_channel = host == nullptr ? 0 : host->next_channel(),
                            .first_transfer = host == nullptr ? 0 : host->next_transfer(),
                            .seed = options.seed,
                            .threads = arguments.threads,
                            .spins = arguments.spins,
                            .graphs = options.graphs && !(options.timeline != nullptr && options.trace_kernels),
                            .status_words = arguments.status_words};
    absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(plan, rank, services);
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

absl::Status Cluster::Initialize(const std::set<std::string>& loaded) {
  return OnEveryRank([&](Executor& executor) { return executor.Initialize(loaded); });
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
