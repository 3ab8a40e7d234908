#include "runtime/executor/process_cluster.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/actor/stream_status.h"
#include "runtime/actor/watchdog.h"
#include "runtime/executor/program_spec.h"
#include "runtime/plan/host_exchange.h"
#include "runtime/plan/machine.h"
#include "runtime/plan/program.h"

namespace weft::executor {
namespace {

// Looks of a waiting stream: other processes want the cores too.
constexpr int kSpins = 20;
// How often a rank whose streams all wait for each other looks for an abort.
constexpr std::chrono::milliseconds kLook(20);
// An error of the communicator is often another rank's end: how long that may take to be told.
constexpr std::chrono::milliseconds kUntilExplained(6000);

absl::Status CheckRanks(const plan::Plan& plan, int processes) {
  const std::vector<int> ranks = RanksOf(plan);
  const int count = static_cast<int>(ranks.size());
  if (!ranks.empty() && ranks.back() != count - 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan: expected ranks numbered from 0, a process each, got ", absl::StrJoin(ranks, ", ")));
  }
  if (count == processes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("plan: expected ", count, count == 1 ? " process" : " processes",
                                                 ", one a rank, got ", processes, " (mpirun -n ", count, ")"));
}

// A hang is told of by one rank: the lowest on a host that has a stopped one,
// or, if none knows of such, by rank 0, unless it is what hangs. Later ones have their turn
// when the watchdogs before them have looked a few times: of 600 s each turn is 4 s later.
int Turn(const collective::World& world) { return std::min(world.place_on_host(), 2); }

std::chrono::milliseconds TurnTime(std::chrono::milliseconds time_out) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::min<actor::Watchdog::Clock::duration>(time_out / 4, 4 * actor::Watchdog::Interval(time_out)));
}

std::chrono::milliseconds GracePeriod(const collective::World& world, std::chrono::milliseconds time_out) {
  const int turn = world.rank() > 0 ? 3 : world.hosts() > 1 ? 1 : 0;
  return TurnTime(time_out) * std::max(0, turn - Turn(world));
}

// Where a rank stands, as its board says.
std::string TextOf(const plan::Plan& plan, int rank, const std::vector<int64_t>& words) {
  for (int s = 0; s < plan.stages_size(); ++s) {
    const auto& ranks = plan.placements(plan.stages(s).placement()).ranks();
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) continue;
    const std::string acts = actor::TextOfStatus(ProgramSpecOf(plan::ProgramOf(plan, s), rank), words);
    return acts.empty() ? "no act, between steps" : acts;
  }
  return "";
}

}  // namespace

int CoresOf(const collective::World& world) {
  const int usable = std::max<int>(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (usable < sysconf(_SC_NPROCESSORS_ONLN)) return usable;
  return std::max(1, usable / world.ranks_on_host());
}

collective::PartsBetweenHosts PartsBy(const plan::Machine& machine) {
  return [machine](const std::vector<collective::CollectiveSpec>& specs, int members, int on_host) {
    plan::BundledBytes bundle;
    for (const collective::CollectiveSpec& spec : specs) {
      const double bytes = static_cast<double>(spec.bytes());
      bundle.emplace_back(spec.kind, FactsOf(spec.kind).gathers ? bytes * members : bytes);
    }
    return plan::HostExchangeOf(machine, bundle, {members, on_host}).parts;
  };
}

ProcessCluster::ProcessCluster(collective::World* world, collective::Communicator* communicator, bool speaks)
    : world_(*world), communicator_(*communicator), speaks_(speaks) {
  fault().AddListener([world, communicator](const absl::Status& error) {
    world->communicator().Abort(error);  // tells the others
    if (communicator != &world->communicator()) communicator->Abort(error);
  });
  listener_ = std::thread([this] { Listen(); });
}

ProcessCluster::~ProcessCluster() {
  if (speaks_) {
    world_.SetWaits(nullptr);
    world_.SetReader(nullptr);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  listener_.join();
  Unload();
}

void ProcessCluster::Listen() {
  std::unique_lock<std::mutex> lock(mutex_);
  absl::Status noticed;
  auto since = std::chrono::steady_clock::now();
  while (!wake_.wait_for(lock, kLook, [this] { return stop_; })) {
    if (const absl::Status failure = world_.failure(); !failure.ok()) return fault().Raise(failure);
    if (noticed.ok()) {
      noticed = communicator_.Check();
      since = std::chrono::steady_clock::now();
    } else if (std::chrono::steady_clock::now() - since > kUntilExplained) {
      return fault().Raise(absl::Status(noticed.code(), absl::StrCat("rank ", world_.rank(), ": ", noticed.message())));
    }
  }
}

std::string ProcessCluster::Waits() { return absl::StrJoin(executor(0).actors().Waits(), "; "); }

absl::StatusOr<std::unique_ptr<ProcessCluster>> ProcessCluster::Create(const plan::Plan& plan, collective::World* world,
                                                                       const ClusterOptions& options,
                                                                       collective::Communicator* communicator) {
  if (absl::Status status = CheckRanks(plan, world->size()); !status.ok()) return status;
  if (communicator == nullptr) communicator = &world->communicator();
  world->SetLevels(PartsBy(plan::MachineOf(plan)));
  const bool speaks = options.host == nullptr;
  std::unique_ptr<ProcessCluster> cluster(new ProcessCluster(world, communicator, speaks));
  const LoadArguments arguments{.ranks = {world->rank()},
                                .communicators = {communicator},
                                .threads = options.threads > 0 ? options.threads : CoresOf(*world),
                                .spins = kSpins,
                                .elsewhere = [world] { return world->Stopped(); },
                                .grace = GracePeriod(*world, options.hang_time_out),
                                .status_words = speaks ? world->board() : absl::Span<std::atomic<int64_t>>()};
  ClusterOptions own = options;
  own.hang_time_out += TurnTime(options.hang_time_out) * Turn(*world);
  if (speaks)
    world->SetReader([&plan](int rank, const std::vector<int64_t>& words) { return TextOf(plan, rank, words); });
  if (absl::Status status = cluster->Load(plan, own, arguments); !status.ok()) return status;
  if (speaks) world->SetWaits([raw = cluster.get()] { return raw->Waits(); });
  return cluster;
}

}  // namespace weft::executor
