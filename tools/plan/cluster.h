// The cluster that a plan is looked at for: its own, but for what the command line says.
#ifndef WEFT_TOOLS_PLAN_CLUSTER_H_
#define WEFT_TOOLS_PLAN_CLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/sim/simulate.h"

namespace weft::tools {

// The plan's cluster with `keys`, such as "cluster.node.count=64"; the local machine if it has none; or that of a file,
// with "cluster=FILE" among the keys. Complete. Errors begin with the key, the file, or `path`, where the plan came
// from.
absl::StatusOr<Cluster> ClusterOf(const std::string& path, const plan::Plan& plan,
                                  const std::vector<std::string>& keys);

// A step of a validated plan there; errors begin with `path`.
absl::StatusOr<sim::Report> Simulated(const std::string& path, const plan::Plan& plan, const Cluster& cluster,
                                      const sim::Options& options = {});

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_CLUSTER_H_
