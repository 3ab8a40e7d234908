#include "tools/calibrate/collectives.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/status_macros.h"
#include "runtime/collective/local/fabric.h"
#include "runtime/executor/local_cluster.h"
#include "tools/calibrate/bench.h"
#include "tools/calibrate/cases.h"

namespace weft::calibrate {
namespace {

using collective::CollectiveSpec;
using collective::Group;
using collective::Operation;

constexpr int64_t kSizes[] = {1 << 10, 16 << 10, 256 << 10, 1 << 20, 4 << 20, 32 << 20};  // bytes
constexpr int64_t kLargest = 32 << 20;
constexpr int64_t kOverlapBytes = 4 << 20;
constexpr int64_t kOverlapSize = 256;  // of the matrices whose product runs meanwhile
constexpr int kOverlapRounds = 9;
constexpr int64_t kBatchBytes = 2 << 20;
// The network's buffers hold a part of the first ones, so that one alone would take less than it does behind others.
constexpr int kFewestRuns = 4, kMostRuns = 50;

// A collective or a transfer that this rank takes part in.
struct Entry {
  std::unique_ptr<Operation> operation;
  size_t inputs = 1, outputs = 1;
  int runs = 1;
  std::vector<double> seconds = {};
};

CollectiveSpec SpecOf(CollectiveKind kind, int64_t bytes, int64_t members) {
  const CollectiveFacts& facts = FactsOf(kind);
  // Parts of parts, and halves of them, are whole numbers of elements.
  const int64_t unit = 2 * members * members;
  const int64_t elements = std::max<int64_t>(bytes / 4 / unit, 1) * unit;
  const int64_t own = facts.gathers ? elements / members : elements;
  CollectiveSpec spec{.kind = kind, .dims = {own}};
  if (facts.passes) spec.by = 1;
  if (facts.has_split_dim()) {
    spec.dims = {members, own / members};
    spec.dim = 1;
  }
  return spec;
}

double BytesOf(const CollectiveSpec& spec, int64_t members) {
  double elements = FactsOf(spec.kind).gathers ? static_cast<double>(members) : 1;
  for (int64_t dim : spec.dims) elements *= static_cast<double>(dim);
  return 4 * elements;
}

int RunsOf(int64_t bytes) { return static_cast<int>(std::clamp<int64_t>(kBatchBytes / bytes, kFewestRuns, kMostRuns)); }

// One rank's operations, and the memory that they work in.
class Rank {
 public:
  explicit Rank(const RankContext& context) : context_(context), communicator_(*context.communicator) {}

  absl::Status Create() {
    WEFT_ASSIGN_OR_RETURN(stream_, context_.device->CreateStream("communication"));
    WEFT_ASSIGN_OR_RETURN(memory_, context_.device->AllocateArena(2 * kLargest));
    groups_ = GroupsOf(context_.hosts);
    for (size_t g = 0; g < groups_.size(); ++g) WEFT_RETURN_IF_ERROR(AddGroup(static_cast<int>(g)));
    for (int peer : Peers()) WEFT_RETURN_IF_ERROR(AddTransfers(peer));
    WEFT_RETURN_IF_ERROR(AddMeeting());
    return communicator_.Connect();
  }

  // Until rank 0 says that the time is over.
  absl::Status Run(Clock::time_point until) {
    while (true) {
      for (std::unique_ptr<Entry>& entry : entries_) {
        if (entry == nullptr) continue;
        WEFT_RETURN_IF_ERROR(Batch(*entry, 1).status());
        WEFT_ASSIGN_OR_RETURN(const double seconds, Batch(*entry, entry->runs));
        entry->seconds.push_back(seconds);
      }
      WEFT_ASSIGN_OR_RETURN(const bool over, IsOver(Clock::now() > until));
      if (over) return absl::OkStatus();
    }
  }

  // Products and collectives alone, and each while the other runs.
  absl::Status Overlap(Measured& measured) {
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Bench> bench,
                          Bench::Create(*context_.kernels, *context_.device, {.threads = context_.threads}));
    WEFT_RETURN_IF_ERROR(bench->Add(ProductCases({kOverlapSize}, "f32")[0]));
    WEFT_RETURN_IF_ERROR(bench->Round(Clock::now()));
    std::vector<double> product, collective, product_beside, collective_beside;
    for (int round = 0; round < kOverlapRounds; ++round) {
      WEFT_RETURN_IF_ERROR(IsOver(false).status());
      WEFT_ASSIGN_OR_RETURN(const double alone, bench->BatchOfFirst());
      product.push_back(alone);
      WEFT_RETURN_IF_ERROR(IsOver(false).status());
      WEFT_ASSIGN_OR_RETURN(const double moved, Batch(*overlap_, overlap_->runs));
      collective.push_back(moved);
      WEFT_RETURN_IF_ERROR(IsOver(false).status());
      std::atomic<bool> stop{false};
      std::vector<double> seen;
      absl::Status computed;
      std::thread computing([&] {
        while (!stop && computed.ok()) {
          const absl::StatusOr<double> seconds = bench->BatchOfFirst();
          computed = seconds.status();
          if (seconds.ok()) seen.push_back(*seconds);
        }
      });
      const absl::StatusOr<double> beside = Batch(*overlap_, 4 * overlap_->runs);
      stop = true;
      computing.join();
      WEFT_RETURN_IF_ERROR(computed);
      WEFT_RETURN_IF_ERROR(beside.status());
      collective_beside.push_back(*beside);
      if (!seen.empty()) product_beside.push_back(TypicalOf(seen));
    }
    if (communicator_.rank() != 0 || product_beside.empty()) return absl::OkStatus();
    measured.overlap = {std::count(context_.hosts.begin(), context_.hosts.end(), context_.hosts[0]), TypicalOf(product),
                        TypicalOf(product_beside), TypicalOf(collective), TypicalOf(collective_beside)};
    return absl::OkStatus();
  }

  void Report(Measured& measured) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i] == nullptr || entries_[i]->seconds.empty()) continue;
      const double seconds = TypicalOf(entries_[i]->seconds);
      if (i < collectives_.size()) {
        measured.collectives.push_back(collectives_[i]);
        measured.collectives.back().seconds = seconds;
      } else {
        measured.transfers.push_back(transfers_[i - collectives_.size()]);
        measured.transfers.back().seconds = seconds;
      }
    }
  }

 private:
  bool Member(const std::vector<int>& ranks) const {
    return std::find(ranks.begin(), ranks.end(), communicator_.rank()) != ranks.end();
  }

  absl::Status AddGroup(int g) {
    const std::vector<int>& ranks = groups_[g];
    std::set<int> nodes;
    for (int rank : ranks) nodes.insert(context_.hosts[rank]);
    const auto members = static_cast<int64_t>(ranks.size()), count = static_cast<int64_t>(nodes.size());
    for (size_t kind = 0; kind < kCollectiveKinds; ++kind) {
      for (int64_t bytes : kSizes) {
        const CollectiveSpec spec = SpecOf(static_cast<CollectiveKind>(kind), bytes, members);
        collectives_.push_back({spec.kind, members / count, count, BytesOf(spec, members), 0});
        entries_.emplace_back();
        if (!Member(ranks)) continue;
        WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Operation> made, communicator_.CreateCollective(GroupNumber(g), {spec}));
        entries_.back().reset(new Entry{.operation = std::move(made), .runs = RunsOf(bytes)});
      }
    }
    return absl::OkStatus();
  }

  Group GroupNumber(int g) const {
    return {.name = absl::StrCat("calibrate[", g, "]"), .ranks = groups_[g], .channel = g};
  }

  // To whom rank 0 sends: another of its node, and one of another node.
  std::vector<int> Peers() const {
    std::vector<int> peers;
    for (bool same : {true, false}) {
      for (size_t r = 1; r < context_.hosts.size(); ++r) {
        if ((context_.hosts[r] == context_.hosts[0]) != same) continue;
        peers.push_back(static_cast<int>(r));
        break;
      }
    }
    return peers;
  }

  absl::Status AddTransfers(int peer) {
    for (int64_t bytes : kSizes) {
      transfers_.push_back({context_.hosts[peer] == context_.hosts[0], static_cast<double>(bytes), 0});
      entries_.emplace_back();
      const bool sends = communicator_.rank() == 0;
      if (!sends && communicator_.rank() != peer) continue;
      const std::vector<int64_t> dims = {bytes / 4};
      const collective::Link link{
          .peer = sends ? peer : 0, .tag = static_cast<int>(transfers_.size()), .block = {dims, {0}, dims}};
      WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Operation> made, communicator_.CreateTransfer(sends, DType::kF32, {link}));
      entries_.back().reset(new Entry{.operation = std::move(made),
                                      .inputs = sends ? size_t{1} : 0,
                                      .outputs = sends ? size_t{0} : 1,
                                      .runs = RunsOf(bytes)});
    }
    return absl::OkStatus();
  }

  // All ranks meet, and one of their node that runs beside kernels.
  absl::Status AddMeeting() {
    Group all{.name = "calibrate", .ranks = {}, .channel = static_cast<int>(groups_.size())};
    for (int r = 0; r < communicator_.size(); ++r) all.ranks.push_back(r);
    meeting_ = std::make_unique<Entry>();
    WEFT_ASSIGN_OR_RETURN(meeting_->operation, communicator_.CreateCollective(
                                                   all, {{.reduction = collective::Reduction::kMax, .dims = {1}}}));
    overlap_ = std::make_unique<Entry>();
    overlap_->runs = 4;
    WEFT_ASSIGN_OR_RETURN(overlap_->operation, communicator_.CreateCollective(all, {{.dims = {kOverlapBytes / 4}}}));
    return absl::OkStatus();
  }

  // What rank 0 comes with.
  absl::StatusOr<bool> IsOver(bool own) {
    float word = communicator_.rank() == 0 && own ? 1 : 0;
    WEFT_RETURN_IF_ERROR(OnStream([&]() -> absl::Status {
      WEFT_ASSIGN_OR_RETURN(std::unique_ptr<device::Arena> host, context_.device->AllocateHostMemory(sizeof(word)));
      *reinterpret_cast<float*>(host->base()) = word;
      WEFT_RETURN_IF_ERROR(stream_->Copy(memory_->base(), host->base(), sizeof(word)));
      WEFT_RETURN_IF_ERROR(RunOnce(*meeting_));
      WEFT_ASSIGN_OR_RETURN(std::unique_ptr<device::Event> done, context_.device->CreateEvent());
      WEFT_RETURN_IF_ERROR(stream_->Copy(host->base(), memory_->base() + kLargest, sizeof(word)));
      WEFT_RETURN_IF_ERROR(stream_->Record(*done));
      WEFT_RETURN_IF_ERROR(done->Synchronize());
      word = *reinterpret_cast<float*>(host->base());
      return absl::OkStatus();
    }));
    return word > 0;
  }

  absl::Status RunOnce(Entry& entry) {
    const void* input = memory_->base();
    void* output = memory_->base() + kLargest;
    return entry.operation->Run(absl::MakeConstSpan(&input, entry.inputs), absl::MakeConstSpan(&output, entry.outputs),
                                stream_->handle());
  }

  absl::Status OnStream(const std::function<absl::Status()>& task) {
    absl::Status status;
    stream_->Submit([&] { status = task(); });
    const absl::Status joined = stream_->Join();
    return status.ok() ? joined : status;
  }

  absl::StatusOr<double> Batch(Entry& entry, int runs) {
    Clock::time_point begin;
    double seconds = 0;
    WEFT_RETURN_IF_ERROR(OnStream([&]() -> absl::Status {
      begin = Clock::now();
      for (int i = 0; i < runs; ++i) WEFT_RETURN_IF_ERROR(RunOnce(entry));
      seconds = SecondsSince(begin);
      return absl::OkStatus();
    }));
    return (context_.device->host_addressable() ? seconds : SecondsSince(begin)) / runs;
  }

  const RankContext& context_;
  collective::Communicator& communicator_;
  std::unique_ptr<device::Stream> stream_;
  std::unique_ptr<device::Arena> memory_;  // an input, then an output
  std::vector<std::vector<int>> groups_;
  std::vector<plan::CollectiveTime> collectives_;  // an entry each, in their order; then the transfers
  std::vector<TimedTransfer> transfers_;
  std::vector<std::unique_ptr<Entry>> entries_;  // null: this rank has no part in it
  std::unique_ptr<Entry> meeting_, overlap_;
};

absl::Status Measure(const RankContext& context, Measured& measured) {
  const Clock::time_point until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(context.seconds));
  Rank rank(context);
  WEFT_RETURN_IF_ERROR(rank.Create());
  WEFT_RETURN_IF_ERROR(rank.Run(until));
  WEFT_RETURN_IF_ERROR(rank.Overlap(measured));
  if (context.communicator->rank() == 0) rank.Report(measured);
  return absl::OkStatus();
}

}  // namespace

std::vector<std::vector<int>> GroupsOf(const std::vector<int>& hosts) {
  std::map<int, std::vector<int>> by_host;
  for (size_t r = 0; r < hosts.size(); ++r) by_host[hosts[r]].push_back(static_cast<int>(r));
  size_t fewest = hosts.size();
  for (const auto& [host, ranks] : by_host) fewest = std::min(fewest, ranks.size());
  std::set<std::vector<int>> groups;
  const auto add = [&](size_t nodes, size_t on_node) {
    std::vector<int> group;
    for (const auto& [host, ranks] : by_host) {
      if (group.size() < nodes * on_node) group.insert(group.end(), ranks.begin(), ranks.begin() + on_node);
    }
    if (group.size() > 1) groups.insert(group);
  };
  const auto counts = [](size_t most) {
    std::vector<size_t> all;
    for (size_t n = 1; n < most; n *= 2) all.push_back(n);
    all.push_back(most);
    return all;
  };
  if (fewest == 0) return {};
  for (size_t nodes : counts(by_host.size())) {
    for (size_t on_node : counts(fewest)) add(nodes, on_node);
  }
  return {groups.begin(), groups.end()};
}

absl::Status MeasureCommunication(const RankContext& rank, Measured& measured) {
  const absl::Status status = Measure(rank, measured);
  if (!status.ok()) rank.communicator->Abort(status);
  return status;
}

absl::Status MeasureThreads(int ranks, RankContext rank, Measured& measured) {
  rank.hosts.assign(ranks, 0);
  // Each rank has a stream that computes beside one that communicates.
  collective::LocalFabric fabric(ranks, executor::SpinsFor(2 * ranks));
  std::vector<std::unique_ptr<collective::Communicator>> communicators;
  for (int r = 0; r < ranks; ++r) communicators.push_back(fabric.Join(r));
  std::vector<absl::Status> statuses(ranks);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      RankContext own = rank;
      own.communicator = communicators[r].get();
      statuses[r] = MeasureCommunication(own, measured);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace weft::calibrate
