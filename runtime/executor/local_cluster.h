// All ranks of a plan as threads of this process.
#ifndef WEFT_RUNTIME_EXECUTOR_LOCAL_CLUSTER_H_
#define WEFT_RUNTIME_EXECUTOR_LOCAL_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/collective/local/fabric.h"
#include "runtime/executor/cluster.h"
#include "runtime/plan/plan.pb.h"

namespace weft::executor {

// How often a waiting thread looks before it sleeps, where so many want a core at a time (LocalFabric).
int SpinsFor(int64_t busy_threads);

class LocalCluster : public Cluster {
 public:
  // `plan` is verified. With a GPU for a device, all ranks are on it.
  static absl::StatusOr<std::unique_ptr<LocalCluster>> Create(const plan::Plan& plan, const ClusterOptions& options);
  ~LocalCluster() override;

 private:
  LocalCluster(int ranks, int spins, Gpu* gpu);

  collective::LocalFabric fabric_;
  std::vector<std::unique_ptr<collective::Communicator>> communicators_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_LOCAL_CLUSTER_H_
