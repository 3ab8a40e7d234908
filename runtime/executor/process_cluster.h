// One rank of a plan in this process, the others in others.
#ifndef WEFT_RUNTIME_EXECUTOR_PROCESS_CLUSTER_H_
#define WEFT_RUNTIME_EXECUTOR_PROCESS_CLUSTER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "runtime/collective/mpi/world.h"
#include "runtime/executor/cluster.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.pb.h"

namespace weft::executor {

// Cores that this process may use: those that it is bound to, or its part of
// the host's if it is bound to none.
int CoresOf(const collective::World& world);

// On two levels what the cost model says is faster so, by the machine's links (plan::HostExchangeOf()).
collective::PartsBetweenHosts PartsBy(const plan::Machine& machine);

// An error of any rank stops all: a fault aborts the world, and an abort of the
// world raises the fault.
class ProcessCluster : public Cluster {
 public:
  // `plan` is verified and the same on all ranks; `world` outlives the cluster.
  // kInvalidArgument if the plan's ranks are not those of the world. `communicator`:
  // for the plan's data, outlives the cluster; null: the world's own.
  static absl::StatusOr<std::unique_ptr<ProcessCluster>> Create(const plan::Plan& plan, collective::World* world,
                                                                const ClusterOptions& options,
                                                                collective::Communicator* communicator = nullptr);
  ~ProcessCluster() override;
  absl::Status Connect() override { return communicator_.Connect(); }

 private:
  ProcessCluster(collective::World* world, collective::Communicator* communicator, bool speaks);
  void Listen();
  std::string Waits();

  collective::World& world_;
  collective::Communicator& communicator_;
  const bool speaks_;  // for this process, to the world: not of a guest
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread listener_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_PROCESS_CLUSTER_H_
