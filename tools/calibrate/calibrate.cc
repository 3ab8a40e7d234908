#include "tools/calibrate/calibrate.h"

#include <google/protobuf/text_format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/job/cluster.h"
#include "ops/abi/status_macros.h"
#include "runtime/device/host/device.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/load.h"
#include "tools/calibrate/bench.h"
#include "tools/calibrate/cases.h"
#include "tools/calibrate/collectives.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/machine.h"
#include "tools/calibrate/probes.h"
#include "tools/calibrate/steps.h"
#include "tools/run/target.h"

namespace weft::calibrate {
namespace {

// Parts of the time.
constexpr double kForProducts = 0.35, kForAttention = 0.1, kForKernels = 0.2, kForCommunication = 0.15, kForSteps = 0.2;
// Rounds that products are to have in theirs.
constexpr double kRounds = 5;
constexpr int64_t kGrid[] = {16, 64, 256, 1024, 4096};
constexpr int64_t kSmallest = 256;                    // the grid reaches at least to here
constexpr int kMostThreads = 8;                       // ranks of one process that collectives are measured among
constexpr int64_t kLengths[] = {16, 64, 256, 1024};   // of sequences that attention is measured for
constexpr double kForLongest = 10;                    // seconds for attention, from which on it is for the last of them
constexpr double kMostTurns = 9, kSecondsATurn = 20;  // of kernels that run in turn; of the whole calibration
constexpr int64_t kTokens = 2048, kGpuTokens = 32768;  // of these sequences together: enough for all of a GPU

// What one calibration works with.
struct Session {
  const Request& request;
  run::Processes& processes;
  Cluster cluster;
  std::vector<plan::Plan> plans;
  std::unique_ptr<run::Target> target;
  std::unique_ptr<device::Device> host;
  std::vector<int> hosts = {};  // by process: the number of its node
  int threads = 1;              // that a kernel may use
  Measured measured = {};

  bool on_host() const { return target->device == nullptr; }
  device::Device& device() const { return on_host() ? *host : *target->device; }

  // One line that is written over; where nobody looks, a line a part.
  void Tell(const std::string& line) const {
    if (request.quiet || !processes.first()) return;
    const bool terminal = isatty(STDERR_FILENO) == 1;
    std::fprintf(stderr, terminal ? "\r\033[K%s" : "%s\n", line.c_str());
    std::fflush(stderr);
  }
  void EndTelling() const {
    if (!request.quiet && processes.first() && isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "\r\033[K");
  }
};

Clock::time_point After(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// This machine, where there is no file: as many ranks as it has cores, each with its part of the memory.
Cluster OwnMachine(const std::string& kind) {
  Cluster cluster;
  cluster.mutable_device()->set_kind(kind);
  cluster.mutable_node()->set_count(1);
  cluster.mutable_node()->set_ranks(1);
  if (kind == "cpu") {
    cluster.mutable_node()->set_ranks(CoreCount());
    cluster.mutable_device()->set_memory_bytes(MemoryBytes() / CoreCount());
  }
  return cluster;
}

absl::Status ReadCluster(Session& session) {
  const Request& request = session.request;
  if (request.cluster.empty()) {
    session.cluster = OwnMachine(request.device.empty() ? "cpu" : request.device);
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(session.cluster, LoadCluster(request.cluster));
  const std::string& kind = session.cluster.device().kind();
  if (request.device.empty() || request.device == kind) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--device: expected ", kind, ", as in ", request.cluster, ", got ", request.device));
}

// The device's name and its memory, which a cluster for another device must not get.
absl::Status NameDevice(Session& session) {
  std::string name = ProcessorName();
  int64_t memory = 0;
  if (!session.on_host()) {
    WEFT_ASSIGN_OR_RETURN(const device::CudaInventory inventory, device::TakeInventory(*session.target->driver));
    const size_t gpu = inventory.gpus.size() == 1  ? 0
                       : session.processes.alone() ? 0
                                                   : session.processes.world()->place_on_host();
    name = inventory.gpus[gpu].name;
    memory = inventory.gpus[gpu].memory_bytes;
  }
  Device& device = *session.cluster.mutable_device();
  if (!device.name().empty() && device.name() != name) {
    return absl::FailedPreconditionError(absl::StrCat(session.request.cluster,
                                                      ": device.name: expected this machine's \"", name, "\", got \"",
                                                      device.name(), "\": calibrate where the devices are"));
  }
  device.set_name(name);
  if (memory > 0 && device.memory_bytes() == 0) device.set_memory_bytes(memory);
  return absl::OkStatus();
}

// The node of each process, from 0 up.
absl::Status FindHosts(Session& session) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> names, session.processes.AllGather(name));
  std::vector<std::string> known;
  for (const std::string& host : names) {
    const auto it = std::find(known.begin(), known.end(), host);
    session.hosts.push_back(static_cast<int>(it - known.begin()));
    if (it == known.end()) known.push_back(host);
  }
  if (session.processes.alone()) return absl::OkStatus();
  Node& node = *session.cluster.mutable_node();
  if (session.request.cluster.empty()) {
    node.set_count(static_cast<int64_t>(known.size()));
    node.set_ranks(session.processes.world()->ranks_on_host());
    if (session.on_host()) session.cluster.mutable_device()->set_memory_bytes(MemoryBytes() / node.ranks());
  }
  return absl::OkStatus();
}

// The largest sizes that leave time for some rounds, at the rate that a first product has.
absl::StatusOr<std::vector<int64_t>> GridFor(Session& session, size_t types, double seconds) {
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<Bench> bench,
                        Bench::Create(session.target->kernels, session.device(), {.threads = session.threads}));
  WEFT_RETURN_IF_ERROR(bench->Add(ProductCases({kSmallest}, "f32")[0]));
  WEFT_RETURN_IF_ERROR(bench->Round(Clock::now()));
  const TimedKernel first = bench->Times()[0];
  const double rate = first.work.contraction_flops / first.seconds;
  std::vector<int64_t> sizes;
  double sum = 0;
  for (int64_t size : kGrid) {
    sum += static_cast<double>(size);
    const double round = 3.0 * static_cast<double>(types) * 2 * sum * sum * sum / rate;
    if (size <= kSmallest || round * kRounds < seconds) sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::string> TypesOf(const Session& session) {
  std::vector<std::string> types = {"f32", "bf16", "f16"};
  if (!session.on_host()) types.insert(types.begin() + 1, "tf32");
  return types;
}

// Ranks that this machine runs at a time.
int RanksHere(const Session& session) {
  return static_cast<int>(std::min<int64_t>(session.cluster.node().ranks(), CoreCount()));
}

// With as many ranks side by side as a node has. A GPU is a rank's own.
absl::StatusOr<std::unique_ptr<Bench>> BenchOf(Session& session, const std::vector<Case>& cases) {
  const int ranks = session.on_host() ? RanksHere(session) : 1;
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Bench> bench, Bench::Create(session.target->kernels, session.device(),
                                                                    {.threads = session.threads, .ranks = ranks}));
  for (const Case& made : cases) WEFT_RETURN_IF_ERROR(bench->Add(made));
  session.measured.beside = ranks;
  return bench;
}

// In rounds, for a part of the time. `whole`: the first round has all of the cases, the others what there is time for.
absl::StatusOr<std::vector<TimedKernel>> TimesInRounds(Session& session, const std::vector<Case>& cases, double part,
                                                       bool whole, const std::string& name) {
  const Clock::time_point until = After(session.request.seconds * part);
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<Bench> bench, BenchOf(session, cases));
  for (int round = 1; round == 1 || Clock::now() < until; ++round) {
    session.Tell(absl::StrCat(name, ", round ", round));
    WEFT_RETURN_IF_ERROR(bench->Round(whole && round == 1 ? Clock::time_point::max() : until));
  }
  return bench->Times();
}

// Of kernels whose operands are far. None on a GPU, which has no caches that a step of a model would fit in.
absl::StatusOr<std::vector<TimedKernel>> TimesInTurn(Session& session, const std::vector<Case>& cases) {
  if (!session.on_host()) return std::vector<TimedKernel>();
  session.Tell(absl::StrCat(cases.size(), " kernels in turn"));
  session.measured.near_bytes = NearBytes(session.device());
  session.measured.far_bytes = kFarBytes;
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<Bench> bench, BenchOf(session, cases));
  const double times = std::clamp(session.request.seconds / kSecondsATurn, 1.0, kMostTurns);
  WEFT_RETURN_IF_ERROR(bench->RunInTurn(static_cast<int>(times)));
  return bench->Times();
}

absl::Status MeasureProducts(Session& session) {
  const std::vector<std::string> types = TypesOf(session);
  WEFT_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes,
                        GridFor(session, types.size(), session.request.seconds * kForProducts));
  std::vector<Case> cases;
  for (const std::string& type : types) {
    for (Case& made : ProductCases(sizes, type)) cases.push_back(std::move(made));
  }
  WEFT_ASSIGN_OR_RETURN(session.measured.products, TimesInRounds(session, cases, kForProducts, /*whole=*/true,
                                                                 absl::StrCat("products up to ", sizes.back())));
  WEFT_ASSIGN_OR_RETURN(session.measured.far_products, TimesInTurn(session, cases));
  return absl::OkStatus();
}

absl::Status MeasureAttention(Session& session) {
  std::vector<int64_t> lengths(std::begin(kLengths), std::end(kLengths));
  if (session.request.seconds * kForAttention < kForLongest) lengths.pop_back();
  std::vector<Case> cases;
  for (const std::string& type : TypesOf(session)) {
    for (Case& made : AttentionCases(lengths, type, session.on_host() ? kTokens : kGpuTokens)) {
      cases.push_back(std::move(made));
    }
  }
  WEFT_ASSIGN_OR_RETURN(session.measured.attention, TimesInRounds(session, cases, kForAttention, /*whole=*/true,
                                                                  absl::StrCat("attention up to ", lengths.back())));
  return absl::OkStatus();
}

absl::Status MeasureKernels(Session& session) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<Case> cases, KernelCases(session.plans));
  WEFT_ASSIGN_OR_RETURN(session.measured.kernels, TimesInRounds(session, cases, kForKernels, /*whole=*/false,
                                                                absl::StrCat(cases.size(), " kernels")));
  WEFT_ASSIGN_OR_RETURN(session.measured.far_kernels, TimesInTurn(session, cases));
  return absl::OkStatus();
}

absl::Status MeasureRanks(Session& session) {
  session.Tell("collectives");
  RankContext rank{.device = &session.device(),
                   .kernels = &session.target->kernels,
                   .hosts = session.hosts,
                   .threads = session.threads,
                   .seconds = session.request.seconds * kForCommunication};
  if (!session.processes.alone()) {
    rank.communicator =
        session.on_host() ? &session.processes.world()->communicator() : session.target->nccl.communicator.get();
    return MeasureCommunication(rank, session.measured);
  }
  const int ranks = static_cast<int>(std::min<int64_t>(session.cluster.node().ranks(), kMostThreads));
  // Ranks that are threads share the one GPU of the process, as no cluster does.
  if (ranks < 2 || !session.on_host()) return absl::OkStatus();
  return MeasureThreads(ranks, rank, session.measured);
}

// What each process has.
absl::StatusOr<std::vector<double>> GatherNumbers(run::Processes& processes, double own) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                        processes.AllGather(std::string(reinterpret_cast<const char*>(&own), sizeof own)));
  std::vector<double> numbers(all.size());
  for (size_t i = 0; i < all.size(); ++i) std::memcpy(&numbers[i], all[i].data(), std::min(all[i].size(), sizeof own));
  return numbers;
}

absl::Status MeasureWholeSteps(Session& session) {
  session.Tell("steps");
  StepContext context{.kernels = &session.target->kernels,
                      .device = session.target->device.get(),
                      .threads = session.threads,
                      .seconds = session.request.seconds * kForSteps,
                      .first = session.processes.first()};
  if (!session.processes.alone()) {
    context.copies = static_cast<int>(std::count(session.hosts.begin(), session.hosts.end(), session.hosts[0]));
    context.gather = [&](double own) { return GatherNumbers(session.processes, own); };
  } else if (session.on_host()) {
    context.copies = RanksHere(session);
  }
  WEFT_RETURN_IF_ERROR(MeasureSteps(session.plans, context, session.measured));
  // A GPU is no core: its ranks do not share one.
  if (!session.on_host()) session.measured.copies = 1;
  return absl::OkStatus();
}

absl::Status Write(Session& session) {
  Cluster& cluster = session.cluster;
  cluster.clear_calibration();
  Calibration& calibration = *cluster.mutable_calibration();
  calibration.set_device_kind(cluster.device().kind());
  calibration.set_device(cluster.device().name());
  calibration.set_date(Today());
  WEFT_RETURN_IF_ERROR(Fit(session.measured, &cluster));
  if (absl::Status status = plan::CheckCluster(cluster); !status.ok()) {
    return absl::InternalError(absl::StrCat("what was measured is no cluster: ", status.message()));
  }
  return plan::ReplaceFile(session.request.out, TextOf(cluster));
}

// A rate above 0 for each that the schema asks for, until it is measured.
void Complete(Cluster& cluster) {
  if (cluster.device().kind() == "cpu") return plan::ResolveCluster(&cluster);
  if (cluster.device().contraction_flops() == 0) cluster.mutable_device()->set_contraction_flops(1e12);
  if (cluster.device().other_flops() == 0) cluster.mutable_device()->set_other_flops(1e12);
  if (cluster.device().memory_bytes_s() == 0) cluster.mutable_device()->set_memory_bytes_s(1e12);
  if (cluster.node().link_bytes_s() == 0) cluster.mutable_node()->set_link_bytes_s(1e9);
  if (cluster.network().link_bytes_s() == 0) cluster.mutable_network()->set_link_bytes_s(1e9);
}

// By the first process, while the others wait.
absl::Status MeasureAlone(Session& session) {
  if (!session.processes.first()) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(MeasureProducts(session));
  WEFT_RETURN_IF_ERROR(MeasureAttention(session));
  return MeasureKernels(session);
}

}  // namespace

std::string TextOf(const Cluster& cluster) {
  const Calibration& calibration = cluster.calibration();
  std::string body;
  google::protobuf::TextFormat::PrintToString(cluster, &body);
  return absl::StrFormat(
      "# %s (%s), measured on %s by weft calibrate.\n# Products: %d, kernels: %d, collectives: %d.\n%s",
      calibration.device(), calibration.device_kind(), calibration.date(), calibration.product_size(),
      calibration.kernel_size(), calibration.collective_size(), body);
}

absl::Status Calibrate(const Request& request, run::Processes& processes) {
  Session session{.request = request, .processes = processes};
  WEFT_RETURN_IF_ERROR(processes.Agree(processes.first() ? plan::CanReplaceFile(request.out) : absl::OkStatus()));
  WEFT_RETURN_IF_ERROR(processes.Agree(ReadCluster(session)));
  absl::StatusOr<std::vector<plan::Plan>> plans = ProbePlans(session.cluster.device().kind());
  WEFT_RETURN_IF_ERROR(processes.Agree(plans.status()));
  session.plans = *std::move(plans);
  const run::Request defaults;
  absl::StatusOr<std::unique_ptr<run::Target>> target =
      run::OpenTarget(session.plans[0], defaults, processes, [&](const std::string& line) { session.Tell(line); });
  WEFT_RETURN_IF_ERROR(processes.Agree(target.status()));
  session.target = *std::move(target);
  if (session.on_host()) session.host = device::CreateHostDevice();
  WEFT_RETURN_IF_ERROR(processes.Agree(NameDevice(session)));
  WEFT_RETURN_IF_ERROR(FindHosts(session));
  Complete(session.cluster);
  const auto ranks = static_cast<int>(session.cluster.node().ranks());
  session.threads = session.on_host() ? std::max(1, CoreCount() / ranks) : 1;
  WEFT_RETURN_IF_ERROR(processes.Agree(MeasureWholeSteps(session)));
  WEFT_RETURN_IF_ERROR(processes.Agree(MeasureAlone(session)));
  WEFT_RETURN_IF_ERROR(processes.Agree(MeasureRanks(session)));
  session.EndTelling();
  return processes.Agree(processes.first() ? Write(session) : absl::OkStatus());
}

}  // namespace weft::calibrate
