#include "tools/calibrate/bench.h"

#include <algorithm>
#include <barrier>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/status_macros.h"

namespace weft::calibrate {
namespace {

constexpr size_t kSmall = size_t{1} << 20;  // operands of a case that is always run
constexpr size_t kAlignment = 64;
constexpr int kMostSets = 64;
constexpr size_t kPattern = size_t{1} << 20;
// A batch takes about so long, unless a single run takes longer.
constexpr double kBatchSeconds = 1.5e-3;
constexpr int kMostRuns = 2000;
constexpr int kRecorded = 64;           // of these are replayed at once
constexpr double kLeastSeconds = 1e-9;  // that a kernel takes: the clock's own unit

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Numbers from -1/2 to 1/2, as activations are about 0: sums of products of 1 would be large, e^-x of them denormal,
// and a GELU of those six times as slow on some processors. Whole ones are small indices, which every table of a probe
// has.
template <typename T>
T ElementAt(size_t i) {
  const float value = static_cast<float>(i * 2654435761u % 1024) / 1024.0f - 0.5f;
  if constexpr (std::is_same_v<T, BFloat16>) return ToBFloat16(value);
  if constexpr (std::is_same_v<T, Float16>) return ToFloat16(value);
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  if constexpr (std::is_integral_v<T>) return static_cast<T>(i * 2654435761u % 61);
}

template <typename T>
void FillPattern(char* to) {
  for (size_t i = 0; i < kPattern / sizeof(T); ++i) {
    const T value = ElementAt<T>(i);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

const char* PatternOf(const device::Arena& patterns, DType dtype) {
  return patterns.base() + kPattern * (static_cast<size_t>(dtype) - 1);
}

void FillPatterns(device::Arena& patterns) {
  char* to = patterns.base();
#define WEFT_ROW(name, cpp, ...) \
  FillPattern<cpp>(to);          \
  to += kPattern;
  WEFT_ELEMENT_TYPES(WEFT_ROW)
#undef WEFT_ROW
}

// Seconds that the calling thread has had a core.
double CoreSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What it takes to ask for them: seconds that nothing took.
double AskingSeconds() {
  std::vector<double> seconds;
  for (int i = 0; i < 100; ++i) {
    const double begin = CoreSeconds();
    seconds.push_back(CoreSeconds() - begin);
  }
  return MedianOf(std::move(seconds));
}

absl::Status Named(const std::string& name, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

}  // namespace

double MedianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double TypicalOf(const std::vector<double>& values) {
  const double most = 2 * MedianOf(values);
  double sum = 0;
  for (double value : values) sum += std::min(value, most);
  return sum / static_cast<double>(values.size());
}

absl::StatusOr<std::unique_ptr<Bench>> Bench::Create(const KernelRegistry& kernels, device::Device& device,
                                                     const Options& options) {
  Options resolved = options;
  if (resolved.near_bytes == 0) resolved.near_bytes = NearBytes(device);
  std::unique_ptr<Bench> bench(new Bench(kernels, device, resolved));
  bench->pool_bytes_ = resolved.near_bytes;
  for (Rank& rank : bench->ranks_) {
    WEFT_ASSIGN_OR_RETURN(rank.stream, device.CreateStream("calibrate"));
  }
  if (device.gpu() != nullptr) bench->upload_ = std::make_unique<executor::StepUpload>(device);
  WEFT_ASSIGN_OR_RETURN(bench->patterns_,
                        device.AllocateHostMemory(static_cast<int64_t>(kPattern * std::size(kElementTypes))));
  FillPatterns(*bench->patterns_);
  return bench;
}

absl::StatusOr<std::unique_ptr<Kernel>> Bench::Make(const Case& made, const Rank& rank) const {
  KernelSpec spec = made.spec;
  spec.workspace = rank.workspace;
  spec.gpu_workspace = rank.gpu_workspace;
  return made.code != nullptr ? made.code->Make(made.generated, made.randoms, spec) : kernels_.Create(spec);
}

absl::Status Bench::Add(Case added) {
  Entry entry{.made = std::move(added)};
  KernelSpec& spec = entry.made.spec;
  spec.threads = options_.threads;
  spec.gpu = device_.gpu();
  if (upload_ != nullptr) spec.gpu_step_values = upload_->values();
  for (const Rank& rank : ranks_) {
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, Make(entry.made, rank));
    entry.kernels.push_back(std::move(kernel));
  }
  for (const TensorSpec& tensor : spec.inputs) entry.set_bytes += Aligned(tensor.bytes());
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    if (i >= entry.made.in_place.size() || entry.made.in_place[i] < 0) {
      entry.set_bytes += Aligned(spec.outputs[i].bytes());
    }
  }
  entry.sets =
      static_cast<int>(std::clamp<size_t>(options_.near_bytes / std::max<size_t>(entry.set_bytes, 1), 1, kMostSets));
  pool_bytes_ = std::max(pool_bytes_, entry.set_bytes * entry.sets);
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status Bench::Prepare() {
  if (ranks_[0].pool != nullptr) return absl::OkStatus();
  for (Rank& rank : ranks_) {
    WEFT_ASSIGN_OR_RETURN(rank.pool, device_.AllocateArena(static_cast<int64_t>(pool_bytes_)));
  }
  if (upload_ == nullptr) return absl::OkStatus();
  WEFT_RETURN_IF_ERROR(upload_->Prepare());
  return OnStreams([&](size_t rank) { return upload_->Run(0, *ranks_[rank].stream); });
}

absl::Status Bench::OnStreams(const std::function<absl::Status(size_t rank)>& task) {
  std::vector<absl::Status> statuses(ranks_.size());
  std::barrier<> meeting(static_cast<std::ptrdiff_t>(ranks_.size()));
  for (size_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].stream->Submit([&, i] {
      meeting.arrive_and_wait();
      statuses[i] = task(i);
    });
  }
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const absl::Status joined = ranks_[i].stream->Join();
    if (statuses[i].ok()) statuses[i] = joined;
  }
  for (const absl::Status& status : statuses) WEFT_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

std::vector<Bench::Operands> Bench::Lay(const Entry& entry, char* at) const {
  const KernelSpec& spec = entry.made.spec;
  std::vector<Operands> sets(entry.sets);
  for (Operands& set : sets) {
    for (const TensorSpec& tensor : spec.inputs) {
      set.inputs.push_back(at);
      at += Aligned(tensor.bytes());
    }
    for (size_t i = 0; i < spec.outputs.size(); ++i) {
      const int in_place = i < entry.made.in_place.size() ? entry.made.in_place[i] : -1;
      if (in_place >= 0) {
        set.outputs.push_back(const_cast<void*>(set.inputs[in_place]));
        continue;
      }
      set.outputs.push_back(at);
      at += Aligned(spec.outputs[i].bytes());
    }
  }
  return sets;
}

Bench::ByRank Bench::Lay(const Entry& entry) const {
  ByRank sets;
  for (const Rank& rank : ranks_) sets.push_back(Lay(entry, rank.pool->base()));
  return sets;
}

absl::Status Bench::Fill(const Entry& entry, const ByRank& sets) {
  return OnStreams([&](size_t rank) -> absl::Status {
    for (const Operands& set : sets[rank]) {
      for (size_t i = 0; i < set.inputs.size(); ++i) {
        const TensorSpec& tensor = entry.made.spec.inputs[i];
        char* const to = static_cast<char*>(const_cast<void*>(set.inputs[i]));
        for (size_t done = 0; done < tensor.bytes(); done += kPattern) {
          const size_t bytes = std::min(kPattern, tensor.bytes() - done);
          WEFT_RETURN_IF_ERROR(ranks_[rank].stream->Copy(to + done, PatternOf(*patterns_, tensor.dtype), bytes));
        }
      }
    }
    return absl::OkStatus();
  });
}

absl::Status Bench::Run(const Entry& entry, size_t rank, const std::vector<Operands>& sets, int runs) {
  const RunContext context{.step = on_gpu() ? RunContext::kNoStep : 0, .stream = ranks_[rank].stream->handle()};
  for (int i = 0; i < runs; ++i) {
    const Operands& set = sets[i % sets.size()];
    WEFT_RETURN_IF_ERROR(entry.kernels[rank]->Run(context, set.inputs, absl::MakeConstSpan(set.outputs)));
  }
  return absl::OkStatus();
}

// Where a call ends before its work does, the host waits for the stream to be done.
absl::StatusOr<double> Bench::Batch(const Entry& entry, const ByRank& sets, int runs) {
  std::vector<Clock::time_point> begun(ranks_.size(), Clock::now());
  std::vector<double> seconds(ranks_.size());
  const absl::Status status = OnStreams([&](size_t rank) {
    begun[rank] = Clock::now();
    const double core = CoreSeconds();
    absl::Status ran = Run(entry, rank, sets[rank], runs);
    seconds[rank] = by_core() ? CoreSeconds() - core : SecondsSince(begun[rank]);
    return ran;
  });
  if (!status.ok()) return Named(entry.made.spec.name, status);
  const double slowest = *std::max_element(seconds.begin(), seconds.end());
  return (device_.host_addressable() ? slowest : SecondsSince(begun[0])) / runs;
}

// What cannot be recorded runs one by one.
absl::StatusOr<double> Bench::Replayed(const Entry& entry, const ByRank& sets, int runs) {
  if (!on_gpu()) return Batch(entry, sets, runs);
  const int recorded = std::min(runs, kRecorded), replays = (runs + recorded - 1) / recorded;
  device::Stream& stream = *ranks_[0].stream;
  absl::StatusOr<std::unique_ptr<device::Graph>> graph = absl::UnknownError("not recorded yet");
  const auto replay = [&](int times) {
    return OnStreams([&](size_t) {
      absl::Status status;
      for (int i = 0; i < times && status.ok(); ++i) status = stream.Replay(**graph);
      return status;
    });
  };
  absl::Status status = OnStreams([&](size_t) {
    graph = stream.Capture([&] { return Run(entry, 0, sets[0], recorded); });
    return absl::OkStatus();
  });
  if (!graph.ok()) return Batch(entry, sets, runs);
  if (status.ok()) status = replay(1);
  const Clock::time_point begin = Clock::now();
  if (status.ok()) status = replay(replays);
  const double seconds = SecondsSince(begin);
  if (!status.ok()) return Named(entry.made.spec.name, status);
  return seconds / (replays * recorded);
}

absl::Status Bench::Round(Clock::time_point until) {
  WEFT_RETURN_IF_ERROR(Prepare());
  for (Entry& entry : entries_) {
    if (Clock::now() > until && (!entry.seconds.empty() || entry.set_bytes > kSmall)) continue;
    const ByRank sets = Lay(entry);
    WEFT_RETURN_IF_ERROR(Fill(entry, sets));
    // The first runs warm up.
    absl::StatusOr<double> first = Batch(entry, sets, entry.runs == 0 ? 2 : 1);
    if (first.ok() && entry.runs == 0) first = Replayed(entry, sets, 2);
    if (!first.ok()) return first.status();
    if (entry.runs == 0) {
      entry.runs = static_cast<int>(std::clamp(kBatchSeconds / std::max(*first, 1e-9), 1.0, double{kMostRuns}));
    }
    const absl::StatusOr<double> seconds = Replayed(entry, sets, entry.runs);
    if (!seconds.ok()) return seconds.status();
    entry.seconds.push_back(*seconds);
  }
  return absl::OkStatus();
}

// Of a turn the rank counts that took longest for all of it: single kernels are too short to be compared.
absl::Status Bench::Turn(const std::vector<Entry*>& group, bool counts) {
  std::vector<std::vector<double>> seconds(ranks_.size());  // by kernel
  std::vector<double> all(ranks_.size(), 0);
  WEFT_RETURN_IF_ERROR(OnStreams([&](size_t rank) -> absl::Status {
    const RunContext context{.step = on_gpu() ? RunContext::kNoStep : 0, .stream = ranks_[rank].stream->handle()};
    const double asking = by_core() ? AskingSeconds() : 0;
    for (Entry* entry : group) {
      const Operands& set = entry->in_turn[rank][0];
      const Clock::time_point begin = Clock::now();
      const double core = CoreSeconds();
      absl::Status ran = entry->kernels[rank]->Run(context, set.inputs, absl::MakeConstSpan(set.outputs));
      const double taken = by_core() ? CoreSeconds() - core : SecondsSince(begin);
      if (!ran.ok()) return Named(entry->made.spec.name, ran);
      seconds[rank].push_back(std::max(taken - asking, kLeastSeconds));
      all[rank] += seconds[rank].back();
    }
    return absl::OkStatus();
  }));
  if (!counts) return absl::OkStatus();
  const std::vector<double>& slowest = seconds[std::max_element(all.begin(), all.end()) - all.begin()];
  for (size_t i = 0; i < group.size(); ++i) group[i]->seconds.push_back(slowest[i]);
  return absl::OkStatus();
}

absl::Status Bench::RunGroupInTurn(const std::vector<Entry*>& group, int times) {
  size_t begin = 0;
  for (Entry* entry : group) {
    entry->sets = 1;
    entry->in_turn.clear();
    for (const Rank& rank : ranks_) entry->in_turn.push_back(Lay(*entry, rank.pool->base() + begin));
    begin += entry->set_bytes;
    WEFT_RETURN_IF_ERROR(Fill(*entry, entry->in_turn));
  }
  for (int i = 0; i <= times; ++i) WEFT_RETURN_IF_ERROR(Turn(group, /*counts=*/i > 0));
  return absl::OkStatus();
}

absl::Status Bench::RunInTurn(int times) {
  size_t all = 0, largest = kFarBytes;
  for (const Entry& entry : entries_) {
    largest = std::max(largest, entry.set_bytes);
    all += entry.set_bytes < kFarBytes ? entry.set_bytes : 0;
  }
  pool_bytes_ = largest;
  WEFT_RETURN_IF_ERROR(Prepare());
  // Every so manieth case is of a group, so that each has large and small ones.
  const size_t groups = all / kFarBytes + 1;
  std::vector<std::vector<Entry*>> members(groups);
  std::vector<size_t> bytes(groups, 0);
  for (size_t i = 0; i < entries_.size(); ++i) {
    // The next one that has room.
    size_t tried = 0, group = i % groups;
    while (tried < members.size() && bytes[group] + entries_[i].set_bytes > largest) {
      ++tried;
      group = (i + tried) % members.size();
    }
    if (tried == members.size()) {
      group = members.size();
      members.emplace_back();
      bytes.push_back(0);
    }
    members[group].push_back(&entries_[i]);
    bytes[group] += entries_[i].set_bytes;
  }
  for (const std::vector<Entry*>& group : members) {
    WEFT_RETURN_IF_ERROR(RunGroupInTurn(group, times));
  }
  return absl::OkStatus();
}

std::vector<TimedKernel> Bench::Times() const {
  std::vector<TimedKernel> times;
  for (const Entry& entry : entries_) {
    if (!entry.seconds.empty()) times.push_back({entry.made.work, TypicalOf(entry.seconds)});
  }
  return times;
}

}  // namespace weft::calibrate
