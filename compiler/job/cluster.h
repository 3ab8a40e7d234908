// Clusters: what a plan may use.
#ifndef WEFT_COMPILER_JOB_CLUSTER_H_
#define WEFT_COMPILER_JOB_CLUSTER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/job.pb.h"

namespace weft {

// Ranks that one process on this machine may run, where a job names no cluster.
inline constexpr int64_t kLocalRanks = 64;

// Reads a cluster file; an empty path gives the local machine: kLocalRanks CPU
// ranks, memory not looked at. Every number is checked, absent rates are
// filled in. Errors are InvalidArgument, or NotFound for a file that cannot be
// read, and begin with the path. Any thread.
absl::StatusOr<Cluster> LoadCluster(const std::string& path);

// Checks that a resolved job's mesh has no more ranks than the cluster.
absl::Status CheckRanks(const Job& job, const Cluster& cluster);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_CLUSTER_H_
