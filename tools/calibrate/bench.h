// Times kernels by themselves, through the device's interface, as a rank runs them.
#ifndef WEFT_TOOLS_CALIBRATE_BENCH_H_
#define WEFT_TOOLS_CALIBRATE_BENCH_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/abi/registry.h"
#include "runtime/code/code.h"
#include "runtime/device/device.h"
#include "runtime/executor/step_upload.h"
#include "tools/calibrate/measured.h"

namespace weft::calibrate {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// What the operands of a case move on through: more than the second-level cache of a core, less than what cores share.
constexpr size_t kNearBytes = size_t{16} << 20;
// The same on a GPU, where an L2 of 50 MiB and more is between: an H100 has 50 MiB.
constexpr size_t kGpuNearBytes = size_t{128} << 20;
inline size_t NearBytes(device::Device& device) { return device.gpu() != nullptr ? kGpuNearBytes : kNearBytes; }
// What cases that run in turn go through.
constexpr size_t kFarBytes = size_t{256} << 20;

double MedianOf(std::vector<double> values);

// What is timed takes on average: means of parts add up to that of the whole, as medians do not where a core has two
// speeds. What took more than twice the median counts as that: an interruption.
double TypicalOf(const std::vector<double>& values);

// A kernel, what the cost model knows of it, and which outputs are inputs too.
struct Case {
  plan::KernelWork work;
  KernelSpec spec;
  std::vector<int> in_place = {};  // by output: the input whose memory it is, or -1
  // Of a generated kernel: its code, and what the plan says of it; null of another.
  std::shared_ptr<const code::Code> code = nullptr;
  plan::Kernel generated = {};
  std::vector<code::RandomTile> randoms = {};
};

// Cases that are run in turn, round after round: a machine that is slower for a while is so for all of them. As many
// ranks as a node has run each of them at the same time, as they do in a step: they share caches and what moves memory,
// and a machine may lend its cores to others for a while. The slowest counts, for ranks that exchange something wait
// for it. In a step an operand has been written some time before: here the operands move on through a pool of memory
// that is larger than the caches next to a core. A kernel of one thread on the host is timed by the seconds that it has
// a core, so that what else runs there counts for what it takes of caches and memory alone. On a GPU runs are recorded
// and replayed, as steps are: launched one by one, a kernel of 1 us takes the host's 5. Called by one thread.
class Bench {
 public:
  struct Options {
    int threads = 1;        // that a kernel may use
    int ranks = 1;          // side by side; 1 on a GPU, which is a rank's own
    size_t near_bytes = 0;  // that the operands of a case move on through; 0: NearBytes()
  };

  // Both outlive it.
  static absl::StatusOr<std::unique_ptr<Bench>> Create(const KernelRegistry& kernels, device::Device& device,
                                                       const Options& options);

  // Before the first round. Errors name the kernel.
  absl::Status Add(Case added);

  // One batch of runs of each case; from `until` on those alone that were not run before and are small.
  absl::Status Round(Clock::time_point until);

  // Instead of rounds: each case once, one after another, each with operands of its own, `times` times after a first
  // one that warms up. So what a case reads and writes was last touched before all the others ran, as in a step of a
  // model of so many bytes: cases are dealt out to groups of kFarBytes, or of a single case that has more.
  absl::Status RunInTurn(int times);

  // One batch of the first case, which has had a round: seconds a run.
  absl::StatusOr<double> BatchOfFirst() { return Batch(entries_[0], Lay(entries_[0]), entries_[0].runs); }

  // What they typically take over the rounds, in the order of Add(). Those without a round are left out.
  std::vector<TimedKernel> Times() const;

 private:
  struct Operands {
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
  };
  struct Rank {
    std::unique_ptr<device::Stream> stream;
    std::unique_ptr<device::Arena> pool;
    std::shared_ptr<Workspace> workspace = std::make_shared<Workspace>();
    std::shared_ptr<GpuWorkspace> gpu_workspace = std::make_shared<GpuWorkspace>();
  };
  using ByRank = std::vector<std::vector<Operands>>;  // sets of operands
  struct Entry {
    Case made;
    std::vector<std::unique_ptr<Kernel>> kernels;  // by rank
    size_t set_bytes = 0;                          // of all operands
    int sets = 1;                                  // so many, one after another in the pool
    int runs = 0;                                  // of a batch; 0: not run yet
    std::vector<double> seconds = {};
    ByRank in_turn = {};  // one set a rank
  };

  Bench(const KernelRegistry& kernels, device::Device& device, const Options& options)
      : kernels_(kernels), device_(device), options_(options), ranks_(options.ranks) {}
  absl::Status Prepare();
  // `task` of each rank, on its stream: begun together, and waited for.
  absl::Status OnStreams(const std::function<absl::Status(size_t rank)>& task);
  absl::StatusOr<std::unique_ptr<Kernel>> Make(const Case& made, const Rank& rank) const;
  std::vector<Operands> Lay(const Entry& entry, char* at) const;
  ByRank Lay(const Entry& entry) const;
  absl::Status Fill(const Entry& entry, const ByRank& sets);
  absl::Status Run(const Entry& entry, size_t rank, const std::vector<Operands>& sets, int runs);
  absl::StatusOr<double> Batch(const Entry& entry, const ByRank& sets, int runs);
  absl::StatusOr<double> Replayed(const Entry& entry, const ByRank& sets, int runs);
  bool on_gpu() const { return device_.gpu() != nullptr; }
  // A kernel of one thread is timed by the seconds that this has a core.
  bool by_core() const { return options_.threads == 1; }
  absl::Status RunGroupInTurn(const std::vector<Entry*>& group, int times);
  absl::Status Turn(const std::vector<Entry*>& group, bool counts);

  const KernelRegistry& kernels_;
  device::Device& device_;
  const Options options_;
  std::vector<Rank> ranks_;
  std::unique_ptr<device::Arena> patterns_;  // kPattern bytes of each element type, on the host
  std::unique_ptr<executor::StepUpload> upload_;
  std::vector<Entry> entries_;
  size_t pool_bytes_ = 0;  // of each rank
};

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_BENCH_H_
