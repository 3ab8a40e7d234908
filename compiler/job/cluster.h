// Clusters: what a plan may use.
#ifndef WEFT_COMPILER_JOB_CLUSTER_H_
#define WEFT_COMPILER_JOB_CLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/job/job.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/job.pb.h"

namespace weft {

// Reads a cluster file and applies `overrides` in order, each
// "cluster.key.path=value", or "cluster.network.link_bytes_s=2x" for a rate twice
// what it is, with its tables (runtime/plan/scale.h); an empty path gives the local machine:
// kMostLocalRanks CPU ranks, memory not looked at. The result is checked and
// complete (runtime/plan/cluster.h). Errors are InvalidArgument, or NotFound for
// a file that cannot be read, and begin with the path or the override's key. Any
// thread.
absl::StatusOr<Cluster> LoadCluster(const std::string& path, const std::vector<std::string>& overrides = {});

// The same for a cluster that is there already, such as that of a plan.
absl::Status OverrideCluster(const std::vector<std::string>& overrides, Cluster* cluster);

// True for "cluster.key.path=value": an override of the cluster, not of the job,
// where `cluster` is a path.
bool IsClusterOverride(const std::string& override_text);

// Checks that a resolved job's mesh has no more ranks than the cluster it names
// (ValidateJob looks at the local machine), and that the cluster has the tier in
// which the job keeps something.
absl::Status CheckOnCluster(const Job& job, const Cluster& cluster);

// Names the tiers in which a checked job keeps something, where it leaves that
// open: the cluster's first.
void ResolveTiers(const Cluster& cluster, Job* job);

// The tier that a job's `zero` or `recompute` names, or the cluster's first; null if there is none.
const Tier* TierOfZero(const Cluster& cluster, const Job& job);
const Tier* TierOfRecompute(const Cluster& cluster, const Job& job);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_CLUSTER_H_
