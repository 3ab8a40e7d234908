// Clusters: checked, completed, and as the rates of the cost model.
#ifndef WEFT_RUNTIME_PLAN_CLUSTER_H_
#define WEFT_RUNTIME_PLAN_CLUSTER_H_

#include <optional>

#include "absl/status/status.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/cost.h"

namespace weft::plan {

class Stage;

// Every number of a cluster in its range; those that "cpu" may leave out may be
// 0. InvalidArgument names the key. Any thread.
absl::Status CheckCluster(const Cluster& cluster);

// Bytes that a plan may use of a rank's memory: what `calibration.reserve_bytes`
// leaves of `device.memory_bytes`. 0: any number.
int64_t PlanBytesOf(const Cluster& cluster);

// Index of the first tier that has less than a rank of a valid stage needs of it, if one has.
std::optional<int> FullTier(const Cluster& cluster, const Stage& stage);

// Fills in what a checked cluster leaves out: on "cpu" the defaults of Machine;
// on "cuda" a single node needs no network.
void ResolveCluster(Cluster* cluster);

// The rates of a checked cluster, resolved or not.
Machine MachineOf(const Cluster& cluster);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_CLUSTER_H_
