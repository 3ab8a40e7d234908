// All ranks of a plan as threads of this process.
#ifndef WEFT_RUNTIME_EXECUTOR_LOCAL_CLUSTER_H_
#define WEFT_RUNTIME_EXECUTOR_LOCAL_CLUSTER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/registry.h"
#include "runtime/actor/fault.h"
#include "runtime/actor/watchdog.h"
#include "runtime/collective/local/fabric.h"
#include "runtime/device/device.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/ports.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/trace/timeline.h"

namespace weft::executor {

struct ClusterOptions {
  const KernelRegistry* kernels = nullptr;
  BatchSource* source = nullptr;
  ResultSink* sink = nullptr;
  uint64_t seed = 0;
  int threads = 0;                             // that a kernel may use; 0: the cores shared by the ranks
  std::chrono::milliseconds hang_time_out{0};  // 0: no watchdog
  trace::Timeline* timeline = nullptr;         // null: no trace
  bool trace_kernels = false;                  // in the timeline
};

// Called by one thread. What its options point to and the plan outlive it.
class LocalCluster {
 public:
  // `plan` is verified. Loads all ranks, side by side.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Create(const plan::Plan& plan, const ClusterOptions& options);
  ~LocalCluster();
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  // Initial values on every rank.
  absl::Status Initialize();

  // One step on every rank. The first error of any stops all, and is what this
  // and every later step returns. Does not allocate unless it fails.
  absl::Status Step(int64_t step);

  // After a step; kNotFound if the plan has no such metric.
  absl::StatusOr<float> Metric(const std::string& name);

  // Calls `task` for every rank, side by side, and returns the error of the
  // lowest rank.
  absl::Status OnEveryRank(const std::function<absl::Status(Executor&)>& task);

  int size() const { return static_cast<int>(executors_.size()); }
  Executor& executor(int i) { return *executors_[i]; }

 private:
  explicit LocalCluster(int ranks, int spins);

  actor::Fault fault_;
  std::unique_ptr<device::Device> device_;
  collective::LocalFabric fabric_;
  std::vector<std::unique_ptr<collective::Communicator>> communicators_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::unique_ptr<actor::Watchdog> watchdog_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_LOCAL_CLUSTER_H_
