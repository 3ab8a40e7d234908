#include "tools/calibrate/bench.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"

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

absl::StatusOr<std::unique_ptr<Bench>> Bench::Create(const KernelRegistry& kernels, device::Device& device, int threads,
                                                     size_t near_bytes) {
  std::unique_ptr<Bench> bench(new Bench(kernels, device, threads, near_bytes));
  bench->pool_bytes_ = near_bytes;
  absl::StatusOr<std::unique_ptr<device::Stream>> stream = device.CreateStream("calibrate");
  if (!stream.ok()) return stream.status();
  bench->stream_ = *std::move(stream);
  if (device.gpu() != nullptr) bench->upload_ = std::make_unique<executor::StepUpload>(device);
  absl::StatusOr<std::unique_ptr<device::Arena>> patterns =
      device.AllocateHostMemory(static_cast<int64_t>(kPattern * std::size(kElementTypes)));
  if (!patterns.ok()) return patterns.status();
  bench->patterns_ = *std::move(patterns);
  FillPatterns(*bench->patterns_);
  return bench;
}

absl::Status Bench::Add(Case added) {
  Entry entry{.made = std::move(added)};
  KernelSpec& spec = entry.made.spec;
  spec.threads = threads_;
  spec.gpu = device_.gpu();
  spec.workspace = workspace_;
  spec.gpu_workspace = gpu_workspace_;
  if (upload_ != nullptr) spec.gpu_step_values = upload_->values();
  const Case& it = entry.made;
  absl::StatusOr<std::unique_ptr<Kernel>> kernel =
      it.code != nullptr ? it.code->Make(it.generated, it.randoms, spec) : kernels_.Create(spec);
  if (!kernel.ok()) return kernel.status();
  entry.kernel = *std::move(kernel);
  for (const TensorSpec& tensor : spec.inputs) entry.set_bytes += Aligned(tensor.bytes());
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    if (i >= entry.made.in_place.size() || entry.made.in_place[i] < 0) {
      entry.set_bytes += Aligned(spec.outputs[i].bytes());
    }
  }
  entry.sets = static_cast<int>(std::clamp<size_t>(near_bytes_ / std::max<size_t>(entry.set_bytes, 1), 1, kMostSets));
  pool_bytes_ = std::max(pool_bytes_, entry.set_bytes * entry.sets);
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status Bench::Prepare() {
  if (pool_ != nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<device::Arena>> pool = device_.AllocateArena(static_cast<int64_t>(pool_bytes_));
  if (!pool.ok()) return pool.status();
  pool_ = *std::move(pool);
  if (upload_ == nullptr) return absl::OkStatus();
  if (absl::Status status = upload_->Prepare(); !status.ok()) return status;
  return OnStream([&] { return upload_->Run(0, *stream_); });
}

absl::Status Bench::OnStream(const std::function<absl::Status()>& task) {
  absl::Status status;
  stream_->Submit([&] { status = task(); });
  const absl::Status joined = stream_->Join();
  return status.ok() ? joined : status;
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

absl::Status Bench::Fill(const Entry& entry, const std::vector<Operands>& sets) {
  return OnStream([&] {
    for (const Operands& set : sets) {
      for (size_t i = 0; i < set.inputs.size(); ++i) {
        const TensorSpec& tensor = entry.made.spec.inputs[i];
        char* const to = static_cast<char*>(const_cast<void*>(set.inputs[i]));
        for (size_t done = 0; done < tensor.bytes(); done += kPattern) {
          const size_t bytes = std::min(kPattern, tensor.bytes() - done);
          absl::Status status = stream_->Copy(to + done, PatternOf(*patterns_, tensor.dtype), bytes);
          if (!status.ok()) return status;
        }
      }
    }
    return absl::OkStatus();
  });
}

absl::Status Bench::Run(const Entry& entry, const std::vector<Operands>& sets, int runs) {
  const RunContext context{.step = on_gpu() ? RunContext::kNoStep : 0, .stream = stream_->handle()};
  for (int i = 0; i < runs; ++i) {
    const Operands& set = sets[i % sets.size()];
    absl::Status ran = entry.kernel->Run(context, set.inputs, absl::MakeConstSpan(set.outputs));
    if (!ran.ok()) return ran;
  }
  return absl::OkStatus();
}

// Where a call ends before its work does, the host waits for the stream to be done.
absl::StatusOr<double> Bench::Batch(const Entry& entry, const std::vector<Operands>& sets, int runs) {
  Clock::time_point begin = Clock::now();
  double seconds = 0;
  const absl::Status status = OnStream([&] {
    begin = Clock::now();
    const double core = CoreSeconds();
    absl::Status ran = Run(entry, sets, runs);
    seconds = threads_ == 1 ? CoreSeconds() - core : SecondsSince(begin);
    return ran;
  });
  if (!status.ok()) return Named(entry.made.spec.name, status);
  return (device_.host_addressable() ? seconds : SecondsSince(begin)) / runs;
}

// What cannot be recorded runs one by one.
absl::StatusOr<double> Bench::Replayed(const Entry& entry, const std::vector<Operands>& sets, int runs) {
  if (!on_gpu()) return Batch(entry, sets, runs);
  const int recorded = std::min(runs, kRecorded), replays = (runs + recorded - 1) / recorded;
  absl::StatusOr<std::unique_ptr<device::Graph>> graph = absl::UnknownError("not recorded yet");
  const auto replay = [&](int times) {
    return OnStream([&] {
      absl::Status status;
      for (int i = 0; i < times && status.ok(); ++i) status = stream_->Replay(**graph);
      return status;
    });
  };
  absl::Status status = OnStream([&] {
    graph = stream_->Capture([&] { return Run(entry, sets, recorded); });
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
  if (absl::Status status = Prepare(); !status.ok()) return status;
  for (Entry& entry : entries_) {
    if (Clock::now() > until && (!entry.seconds.empty() || entry.set_bytes > kSmall)) continue;
    const std::vector<Operands> sets = Lay(entry);
    if (absl::Status status = Fill(entry, sets); !status.ok()) return status;
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

absl::Status Bench::Turn(const std::vector<Entry*>& group, bool counts) {
  const RunContext context{.step = device_.gpu() != nullptr ? RunContext::kNoStep : 0, .stream = stream_->handle()};
  return OnStream([&] {
    const double asking = threads_ == 1 ? AskingSeconds() : 0;
    for (Entry* entry : group) {
      const Operands& set = entry->in_turn[0];
      const Clock::time_point begin = Clock::now();
      const double core = CoreSeconds();
      absl::Status ran = entry->kernel->Run(context, set.inputs, absl::MakeConstSpan(set.outputs));
      const double seconds = threads_ == 1 ? CoreSeconds() - core : SecondsSince(begin);
      if (!ran.ok()) return Named(entry->made.spec.name, ran);
      if (counts) entry->seconds.push_back(std::max(seconds - asking, kLeastSeconds));
    }
    return absl::OkStatus();
  });
}

absl::Status Bench::RunGroupInTurn(const std::vector<Entry*>& group, int times) {
  char* at = pool_->base();
  for (Entry* entry : group) {
    entry->sets = 1;
    entry->in_turn = Lay(*entry, at);
    at += entry->set_bytes;
    if (absl::Status status = Fill(*entry, entry->in_turn); !status.ok()) return status;
  }
  for (int i = 0; i <= times; ++i) {
    if (absl::Status status = Turn(group, /*counts=*/i > 0); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Bench::RunInTurn(int times) {
  size_t all = 0, largest = kFarBytes;
  for (const Entry& entry : entries_) {
    largest = std::max(largest, entry.set_bytes);
    all += entry.set_bytes < kFarBytes ? entry.set_bytes : 0;
  }
  pool_bytes_ = largest;
  if (absl::Status status = Prepare(); !status.ok()) return status;
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
    if (absl::Status status = RunGroupInTurn(group, times); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<TimedKernel> Bench::Times(absl::Span<const std::unique_ptr<Bench>> benches) {
  std::vector<TimedKernel> times;
  for (size_t i = 0; i < benches[0]->entries_.size(); ++i) {
    std::vector<double> seconds;
    for (const std::unique_ptr<Bench>& bench : benches) {
      const std::vector<double>& own = bench->entries_[i].seconds;
      seconds.insert(seconds.end(), own.begin(), own.end());
    }
    if (!seconds.empty()) times.push_back({benches[0]->entries_[i].made.work, TypicalOf(seconds)});
  }
  return times;
}

}  // namespace weft::calibrate
