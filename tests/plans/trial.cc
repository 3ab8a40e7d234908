#include "tests/plans/trial.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/cpu_kernels.h"
#include "runtime/executor/local_cluster.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/program.h"
#include "tests/plans/guarded_device.h"
#include "tests/plans/ideal.h"
#include "tests/plans/stamps.h"

namespace weft::plan {
namespace {

constexpr int64_t kMostActs = 5000;      // of all ranks in a step
constexpr int64_t kMostThreads = 200;    // streams of all ranks
constexpr int64_t kMostBytes = 8 << 20;  // of all arenas, as often as there are micro-batches

absl::Status Wrong(int64_t step, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("step ", step, ": ", status.message()));
}

// Which bytes of a rank's arena hold state, or any buffer.
class Bytes {
 public:
  explicit Bytes(const Program& program) : kinds_(program.stage->arena_bytes(), kGap) {
    for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
      if (!program.on_device[b]) continue;  // in no arena: seen by what is fetched of it
      const int64_t bytes = LocalBytes(*program.placement, program.buffer(b));
      for (int64_t slot = 0; slot < program.buffer(b).slots(); ++slot) {
        const int64_t begin = program.RangeOf(b, slot).begin;
        for (int64_t i = begin; i < begin + bytes; ++i) {
          if (program.persistent[b]) kinds_[i] = kState;
          if (kinds_[i] == kGap) kinds_[i] = kBuffer;
        }
      }
    }
  }
  void Spoil(char* arena) const {
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != kState) arena[i] = GuardedDevice::kGarbage;
    }
  }
  absl::Status CheckGaps(const char* arena) const {
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] != kGap || arena[i] == GuardedDevice::kGarbage) continue;
      return absl::InternalError(absl::StrCat("byte ", i, " of the arena, where no buffer lies, was written"));
    }
    return absl::OkStatus();
  }

 private:
  enum Kind : char { kGap, kBuffer, kState };
  std::vector<Kind> kinds_;
};

// A run beside what it should be.
class Comparison {
 public:
  Comparison(const Plan& plan, Log& log, IdealCluster& ideal, GuardedDevice& device, executor::LocalCluster& cluster)
      : plan_(plan), log_(log), ideal_(ideal), device_(device), cluster_(cluster), programs_(ProgramsOf(plan)) {
    for (const Program& program : programs_) bytes_.emplace_back(program);
  }

  absl::Status Step(int64_t step) {
    absl::Status status = ForEachArena([&](const Program& program, int64_t, char* arena) {
      bytes_[program.index].Spoil(arena);
      return absl::OkStatus();
    });
    std::fill(log_.read.begin(), log_.read.end(), 0);
    if (status.ok()) status = cluster_.Step(step);
    if (status.ok()) status = ideal_.Step(step);
    if (status.ok()) status = CheckReads();
    if (status.ok())
      status = ForEachArena([&](const Program& program, int64_t index, char* arena) {
        const absl::Status gaps = bytes_[program.index].CheckGaps(arena);
        return gaps.ok() ? CheckState(program, index, arena) : gaps;
      });
    if (status.ok()) status = CheckMetrics();
    return status;
  }

 private:
  template <typename Visit>
  absl::Status ForEachArena(Visit&& visit) {
    for (const Program& program : programs_) {
      for (int r = 0; r < program.placement->ranks_size(); ++r) {
        device::Arena* arena = device_.ArenaOf(program.placement->ranks(r));
        if (arena == nullptr) continue;
        if (absl::Status status = visit(program, r, arena->base()); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckReads() const {
    if (log_.disturbed > 0) return absl::InternalError("a kernel's operands changed while it ran");
    for (size_t i = 0; i < log_.read.size(); ++i) {
      if (log_.read[i] == ideal_.read()[i]) continue;
      return absl::InternalError(absl::StrCat(log_.Text(static_cast<int64_t>(i)), " is not what the plan says"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckState(const Program& program, int64_t index, const char* arena) const {
    for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
      if (!program.StaysOnDevice(b)) continue;
      const std::vector<char> expected = ideal_.BytesOf(program.index, index, b);
      if (std::memcmp(expected.data(), arena + program.offset[b], expected.size()) == 0) continue;
      return absl::InternalError(absl::StrCat("stage ", program.index, ": place ", index, ": state `",
                                              program.buffer(b).name(), "` is not what the plan says"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckMetrics() const {
    for (const Metric& metric : plan_.metrics()) {
      const absl::StatusOr<float> value = cluster_.Metric(metric.name());
      if (!value.ok()) return value.status();
      // Of the lowest rank: the executors are in the order of their ranks.
      const auto& ranks = programs_[metric.stage()].placement->ranks();
      const int64_t lowest = std::min_element(ranks.begin(), ranks.end()) - ranks.begin();
      const std::vector<char> expected = ideal_.BytesOf(metric.stage(), lowest, metric.buffer());
      if (std::memcmp(expected.data(), &*value, sizeof(float)) == 0) continue;
      return absl::InternalError(absl::StrCat("metric `", metric.name(), "` is not what the plan says"));
    }
    return absl::OkStatus();
  }

  const Plan& plan_;
  Log& log_;
  IdealCluster& ideal_;
  GuardedDevice& device_;
  executor::LocalCluster& cluster_;
  const std::vector<Program> programs_;
  std::vector<Bytes> bytes_;
};

// Zeros for every input.
class ZeroSource : public executor::BatchSource {
 public:
  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    return std::make_unique<Field>(port.spec.bytes());
  }

 private:
  class Field : public executor::BatchField {
   public:
    explicit Field(size_t bytes) : bytes_(bytes) {}
    absl::Status Fill(int64_t, int64_t, void* tile) override {
      std::memset(tile, 0, bytes_);
      return absl::OkStatus();
    }

   private:
    const size_t bytes_;
  };
};

}  // namespace

bool IsSmall(const Plan& plan) {
  int64_t acts = 0, threads = 0, bytes = 0;
  for (const Stage& stage : plan.stages()) {
    const int64_t ranks = plan.placements(stage.placement()).ranks_size();
    threads += ranks * stage.streams_size();
    if (stage.arena_bytes() > kMostBytes || ranks > kMostThreads) return false;
    bytes += ranks * stage.arena_bytes();
    for (const Actor& actor : stage.actors()) {
      acts += ranks * (actor.section() == Actor::STEP ? 1 : plan.header().micro_batches());
    }
  }
  return acts <= kMostActs && threads <= kMostThreads && bytes * plan.header().micro_batches() <= kMostBytes;
}

Trial Try(const Plan& tried, const TrialOptions& options) {
  Trial trial;
  Plan stamped = tried;
  Log log(stamped);
  log.delays = options.delays;
  // As from a file: the maps of attributes are complete, so that threads only read them.
  Plan plan;
  if (!plan.ParseFromString(stamped.SerializeAsString())) {
    trial.fault = absl::InternalError("the plan does not survive its serialisation");
    return trial;
  }
  const KernelRegistry kernels = StampKernels(plan);
  GuardedDevice device;
  StampSource source;
  StampSink sink(log);
  auto cluster = executor::LocalCluster::Create(plan, {.kernels = &kernels,
                                                       .source = &source,
                                                       .sink = &sink,
                                                       .threads = 1,
                                                       .hang_time_out = options.hang_time_out,
                                                       .device = &device});
  trial.refused = cluster.ok() ? (*cluster)->Initialize() : cluster.status();
  if (!trial.refused.ok()) return trial;
  IdealCluster ideal(plan, log);
  Comparison comparison(plan, log, ideal, device, **cluster);
  for (int64_t step = 0; step < options.steps && trial.fault.ok(); ++step) {
    if (absl::Status status = comparison.Step(step); !status.ok()) trial.fault = Wrong(step, status);
  }
  return trial;
}

Trial TryKernels(const Plan& plan, const TrialOptions& options) {
  Trial trial;
  KernelRegistry kernels;
  RegisterCpuKernels(kernels);
  GuardedDevice device;
  ZeroSource source;
  auto cluster = executor::LocalCluster::Create(plan, {.kernels = &kernels,
                                                       .source = &source,
                                                       .threads = 1,
                                                       .hang_time_out = options.hang_time_out,
                                                       .device = &device});
  trial.refused = cluster.ok() ? (*cluster)->Initialize() : cluster.status();
  for (int64_t step = 0; step < options.steps && trial.refused.ok(); ++step) {
    const absl::Status status = (*cluster)->Step(step);
    if (absl::IsDeadlineExceeded(status)) trial.fault = Wrong(step, status);
    if (!status.ok()) break;
  }
  return trial;
}

}  // namespace weft::plan
