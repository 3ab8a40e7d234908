// The ranks of a plan that run in this process, as one thing that steps.
#ifndef WEFT_RUNTIME_EXECUTOR_CLUSTER_H_
#define WEFT_RUNTIME_EXECUTOR_CLUSTER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/abi/registry.h"
#include "runtime/actor/fault.h"
#include "runtime/actor/watchdog.h"
#include "runtime/collective/communicator.h"
#include "runtime/device/device.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/ports.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/trace/timeline.h"

namespace weft::executor {

class Cluster;

struct ClusterOptions {
  const KernelRegistry* kernels = nullptr;
  const KernelRegistry* host_kernels = nullptr;  // of what the host does beside GPUs; null: `kernels`
  BatchSource* source = nullptr;
  ResultSink* sink = nullptr;
  uint64_t seed = 0;
  int threads = 0;                             // that a kernel may use; 0: the cores shared by the ranks
  std::chrono::milliseconds hang_time_out{0};  // 0: no watchdog
  trace::Timeline* timeline = nullptr;         // null: no trace
  bool trace_kernels = false;                  // in the timeline
  // Two plans of the same ranks may take turns in the same arenas, with the same state (CheckSameState): the host is
  // made first, with room for its guest, and outlives it. Only the host is initialised.
  const plan::Plan* guest = nullptr;  // of a host
  Cluster* host = nullptr;            // of a guest
  device::Device* device = nullptr;   // of all ranks of this process; null: the host
  bool graphs = true;                 // see Services; not with trace_kernels
  // Called once, with the first error of a step, by the thread that meets it. An
  // act that hangs keeps Step() from returning: this is where to act on it.
  std::function<void(const absl::Status&)> on_fault;
  // Where the files of tiers on disks go; empty: the plan has none.
  std::string tier_folder;
};

// The ranks of a plan, ascending.
std::vector<int> RanksOf(const plan::Plan& plan);

// That all that `host` and `guest` keep from step to step is the same and lies at the same places. kInvalidArgument.
absl::Status CheckSameState(const plan::Plan& host, const plan::Plan& guest);

// Called by one thread. What its options point to and the plan outlive it.
class Cluster {
 public:
  virtual ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Once, when the clusters of all processes are there, by all at the same time.
  virtual absl::Status Connect() { return absl::OkStatus(); }

  // Initial values on every rank, see Executor.
  absl::Status Initialize(const std::set<std::string>& loaded = {});

  // One step on every rank. The first error of any stops all, and is what this
  // and every later step returns. Does not allocate unless it fails.
  absl::Status Step(int64_t step);

  // The two halves of Step(): End() waits for the step that Begin() has started.
  void Begin(int64_t step);
  absl::Status End();

  // Between End() and the next Begin(); kNotFound if no rank of this process has such a metric.
  absl::StatusOr<float> Metric(const std::string& name);

  // Calls `task` for every rank of this process, side by side, and returns the
  // error of the lowest rank.
  absl::Status OnEveryRank(const std::function<absl::Status(Executor&)>& task);

  int size() const { return static_cast<int>(executors_.size()); }
  Executor& executor(int i) { return *executors_[i]; }

 protected:
  Cluster();

  // What Load() takes besides the options: what differs between threads and processes.
  struct LoadArguments {
    std::vector<int> ranks;                                // of this process
    std::vector<collective::Communicator*> communicators;  // one a rank
    std::vector<device::Device*> devices;                  // one a rank; empty: the options' for all
    int threads = 1;                                       // that a kernel may use
    int spins = 0;                                         // of a waiting stream
    std::function<std::string()> elsewhere;                // see Watchdog; may be null
    std::chrono::milliseconds grace{0};                    // see Watchdog
    absl::Span<std::atomic<int64_t>> status_words = {};    // of the only rank; may be empty
  };
  // Loads the ranks, side by side, and starts the watchdog.
  absl::Status Load(const plan::Plan& plan, const ClusterOptions& options, const LoadArguments& arguments);

  // Drops the executors, which use communicators: subclasses that own those do so
  // in their destructors.
  void Unload();

  actor::Fault& fault() { return fault_; }

 private:
  actor::Fault fault_;
  std::unique_ptr<device::Device> host_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::unique_ptr<actor::Watchdog> watchdog_;
  bool begun_ = false;  // a step
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_CLUSTER_H_
