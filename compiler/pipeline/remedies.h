// What would make a plan fit that does not.
#ifndef WEFT_COMPILER_PIPELINE_REMEDIES_H_
#define WEFT_COMPILER_PIPELINE_REMEDIES_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

/// Compiles a job silently, as far as a plan that nobody has verified.
using Planner = std::function<absl::StatusOr<plan::Plan>(const Job &)>;

/// Changes of the job's keys, one at a time, then several together, with which each rank's memory fits the device: one
/// line each, the fastest first, with the memory and the step that they lead to, beside those of `plan`, the job's own.
/// Compiles and simulates a handful of jobs, and begins none when some seconds are over. Changes that the job cannot
/// have, such as more ranks than the cluster has, are left out. If nothing fits, the one that comes nearest.
std::string remedies(const Job &job, const Cluster &cluster, const plan::Plan &plan, const Planner &planner);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_REMEDIES_H_
