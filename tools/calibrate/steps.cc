#include "tools/calibrate/steps.h"

#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/status_macros.h"
#include "runtime/executor/local_cluster.h"
#include "tools/calibrate/bench.h"
#include "tools/calibrate/cases.h"

namespace weft::calibrate {
namespace {

constexpr int kFewestRounds = 5;
constexpr double kBatchSeconds = 0.05;

// Small whole numbers, which every vocabulary has.
class Tokens : public executor::BatchSource {
  class Field : public executor::BatchField {
   public:
    explicit Field(const TensorSpec& spec) : values_(spec.elements()), bytes_(spec.bytes()) {
      for (size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<int32_t>(i * 2654435761u % 61);
    }
    absl::Status Fill(int64_t, int64_t, void* tile) override {
      std::memcpy(tile, values_.data(), std::min(bytes_, values_.size() * sizeof(int32_t)));
      return absl::OkStatus();
    }

   private:
    std::vector<int32_t> values_;
    size_t bytes_;
  };

 public:
  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    if (port.spec.dtype != DType::kI32) {
      return absl::InvalidArgumentError(absl::StrCat("`", port.name, "`: expected an input of i32"));
    }
    return std::make_unique<Field>(port.spec);
  }
};

// One rank that steps.
class Stepper {
 public:
  static absl::StatusOr<std::unique_ptr<Stepper>> Create(const plan::Plan& plan, const StepContext& context,
                                                         bool graphs = true) {
    auto stepper = std::make_unique<Stepper>();
    WEFT_ASSIGN_OR_RETURN(stepper->cluster_, executor::LocalCluster::Create(plan, {.kernels = context.kernels,
                                                                                   .source = &stepper->tokens_,
                                                                                   .threads = context.threads,
                                                                                   .device = context.device,
                                                                                   .graphs = graphs}));
    WEFT_RETURN_IF_ERROR(stepper->cluster_->Initialize());
    // The first steps prepare what is done once.
    for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(stepper->Step().status());
    WEFT_ASSIGN_OR_RETURN(const double seconds, stepper->Step());
    stepper->runs_ = static_cast<int>(std::clamp(kBatchSeconds / seconds, 1.0, 500.0));
    return stepper;
  }

  absl::StatusOr<double> Step() {
    const Clock::time_point begin = Clock::now();
    WEFT_RETURN_IF_ERROR(cluster_->Step(step_++));
    return SecondsSince(begin);
  }

  int runs() const { return runs_; }

  // Of several.
  absl::StatusOr<double> Batch() {
    std::vector<double> seconds;
    for (int i = 0; i < runs_; ++i) {
      WEFT_ASSIGN_OR_RETURN(const double one, Step());
      seconds.push_back(one);
    }
    return TypicalOf(seconds);
  }

 private:
  Tokens tokens_;
  std::unique_ptr<executor::LocalCluster> cluster_;
  int64_t step_ = 0;
  int runs_ = 1;  // of a batch
};

// Of this process, in bytes; 0 where the system does not say.
int64_t ResidentBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long long whole = 0, resident = 0;
  const int read = std::fscanf(file, "%lld %lld", &whole, &resident);
  std::fclose(file);
  return read == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

// What all processes have, this one first where it is alone.
absl::StatusOr<std::vector<double>> Gather(const StepContext& context, double own) {
  if (context.gather) return context.gather(own);
  return std::vector<double>{own};
}

absl::Status Meet(const StepContext& context) { return Gather(context, 0).status(); }

// Steppers of one plan side by side, which begin each step together: of this process, and of others.
using Copies = std::vector<std::unique_ptr<Stepper>>;

absl::StatusOr<Copies> CopiesOf(const plan::Plan& plan, const StepContext& context, bool graphs) {
  Copies copies(context.gather ? 1 : context.copies);
  for (std::unique_ptr<Stepper>& copy : copies) {
    WEFT_ASSIGN_OR_RETURN(copy, Stepper::Create(plan, context, graphs));
  }
  return copies;
}

// Seconds of steps of all of them.
struct Together {
  std::vector<double> mean, slowest;
};

// Adds a batch.
absl::Status SideBySide(const Copies& steppers, int runs, const StepContext& context, Together* to) {
  // By the stepper and the run: of this process, or of all.
  std::vector<std::vector<std::vector<double>>> seconds(steppers.size());
  std::vector<absl::Status> statuses(steppers.size());
  std::barrier<> meeting(static_cast<std::ptrdiff_t>(steppers.size()));
  const auto step = [&](size_t i) -> absl::Status {
    for (int run = 0; run < runs; ++run) {
      meeting.arrive_and_wait();
      WEFT_ASSIGN_OR_RETURN(const double own, steppers[i]->Step());
      WEFT_ASSIGN_OR_RETURN(std::vector<double> all, Gather(context, own));
      seconds[i].push_back(std::move(all));
    }
    return absl::OkStatus();
  };
  const auto all_steps = [&](size_t i) {
    statuses[i] = step(i);
    meeting.arrive_and_drop();  // who fails keeps nobody waiting
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < steppers.size(); ++i) threads.emplace_back(all_steps, i);
  all_steps(0);
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) WEFT_RETURN_IF_ERROR(status);
  for (int run = 0; run < runs; ++run) {
    std::vector<double> ranks;
    for (const auto& own : seconds) ranks.insert(ranks.end(), own[run].begin(), own[run].end());
    to->mean.push_back(std::accumulate(ranks.begin(), ranks.end(), 0.0) / static_cast<double>(ranks.size()));
    to->slowest.push_back(*std::max_element(ranks.begin(), ranks.end()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status MeasureSteps(const std::vector<plan::Plan>& plans, const StepContext& context, Measured& measured) {
  const Clock::time_point until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(context.seconds));
  const int64_t before = ResidentBytes();
  // The small plans, which a GPU runs with graphs as well, and the larger one.
  const bool on_gpu = context.device != nullptr && context.device->gpu() != nullptr;
  const int small = on_gpu ? 4 : 2;
  std::vector<Copies> all;
  std::vector<int> runs;  // of a batch, the same in all processes
  int64_t planned = 0;
  for (int i = 0; i <= small; ++i) {
    const plan::Plan& plan = plans[i < small ? i % 2 : 2];
    WEFT_ASSIGN_OR_RETURN(Copies copies, CopiesOf(plan, context, /*graphs=*/i >= 2));
    WEFT_ASSIGN_OR_RETURN(const std::vector<double> wanted, Gather(context, copies[0]->runs()));
    runs.push_back(static_cast<int>(*std::max_element(wanted.begin(), wanted.end())));
    planned += static_cast<int64_t>(copies.size()) * plan.stages(0).arena_bytes();
    all.push_back(std::move(copies));
  }
  // A rank that is a thread shares the process with its copies.
  const auto own = static_cast<int64_t>(all[small].size());
  measured.reserve_bytes = std::max<int64_t>(0, ResidentBytes() - planned) / own;
  if (context.device != nullptr) measured.reserve_bytes = std::max<int64_t>(0, measured.reserve_bytes - before);
  std::vector<double> alone;
  std::vector<Together> together(all.size());
  // All processes take as many rounds, so their number is not a matter of time.
  const int rounds = std::max(kFewestRounds, static_cast<int>(context.seconds / (4 * kBatchSeconds)));
  for (int round = 0; round < rounds; ++round) {
    if (!context.gather && round >= kFewestRounds && Clock::now() > until) break;
    WEFT_RETURN_IF_ERROR(Meet(context));
    if (context.first) {
      WEFT_ASSIGN_OR_RETURN(const double one, all[small][0]->Batch());
      alone.push_back(one);
    }
    for (size_t i = 0; i < all.size(); ++i) {
      WEFT_RETURN_IF_ERROR(Meet(context));
      WEFT_RETURN_IF_ERROR(SideBySide(all[i], runs[i], context, &together[i]));
    }
  }
  if (!context.first) return absl::OkStatus();
  for (int i = 0; i < small; ++i) {
    (i < 2 ? measured.small_steps : measured.graph_steps)
        .push_back({WorksOfStep(plans[i % 2]), TypicalOf(together[i].slowest)});
  }
  measured.copies = context.copies;
  measured.plan = &plans[2];
  measured.plan_s = TypicalOf(together[small].slowest);
  measured.longer = TypicalOf(together[small].mean) / TypicalOf(alone);
  return absl::OkStatus();
}

}  // namespace weft::calibrate
