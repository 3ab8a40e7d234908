// Trains a job inside a test: compiles it, runs all ranks as threads, and
// tells what every step reported.
#ifndef WEFT_TESTS_SUPPORT_TRAINER_H_
#define WEFT_TESTS_SUPPORT_TRAINER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/registry.h"
#include "runtime/device/device.h"
#include "runtime/executor/cluster.h"
#include "runtime/plan/plan.pb.h"

namespace weft::executor {
class Executor;
}

namespace weft::tests {

struct TrainOptions {
  std::string job;                     // path, relative to the runfiles
  std::vector<std::string> overrides;  // key.path=value
  std::string data;                    // as --data of weft run
  std::string init;                    // safetensors with initial parameters; empty: initialisers
  int steps = 1;
  int first_step = 0;  // the others follow
  int threads = 1;
  bool graphs = true;  // replayed, on devices that can
  // Before the first step, on every rank: restores what was saved.
  std::function<absl::Status(executor::Executor&)> restore;
  // After every step: on every rank, each from a thread of its own; then `after_step` once.
  std::function<absl::Status(executor::Executor&)> inspect;
  std::function<void()> after_step;
  // What the ranks run on; null: the host and its kernels.
  std::string cluster;      // a cluster file
  std::string tier_folder;  // for its disks
  device::Device* device = nullptr;
  const KernelRegistry* kernels = nullptr;
  // Makes the ranks of the plan; null: as threads of this process.
  std::function<absl::StatusOr<std::unique_ptr<executor::Cluster>>(const plan::Plan&, const executor::ClusterOptions&)>
      make_cluster = nullptr;
};

struct StepReport {
  float loss = 0;
  float grad_norm = 0;
};

// Compiles a job to a verified plan, for a cluster file or, without one, this machine. The search for offsets begins
// with a seed.
absl::StatusOr<plan::Plan> CompileJob(const std::string& job, const std::vector<std::string>& overrides,
                                      const std::string& cluster = "", uint32_t memory_seed = 0);

// Runs the steps and returns one report a step.
absl::StatusOr<std::vector<StepReport>> Train(const TrainOptions& options);

}  // namespace weft::tests

#endif  // WEFT_TESTS_SUPPORT_TRAINER_H_
