// What would make a plan fit that does not.
#ifndef WEFT_COMPILER_PIPELINE_REMEDIES_H_
#define WEFT_COMPILER_PIPELINE_REMEDIES_H_

#include <cstdint>
#include <string>

#include "compiler/pipeline/candidates.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"

namespace weft::compiler {

/// What is compiled at most, see Candidates::limit. All variants of GPT-2 with 345M parameters take less, and some four
/// of GPT-3 are as much.
inline constexpr int64_t kRemedyWork = 1000000;

/// Changes of the job's keys, one at a time and several together, a line each behind a line break: those with which
/// each rank's memory fits the device, the fastest first, with the memory and the step that they lead to; then those
/// that do not fit, the nearest first; then those that were not tried, and why. `job` is resolved, with paths as seen
/// from here, `plan` is its own. What should save most, by an estimate from the plan's memory, is compiled first, until
/// `work` is done: the same on every machine.
std::string remedies(const Job &job, const Cluster &cluster, const plan::Plan &plan, Candidates &candidates,
                     int64_t work = kRemedyWork);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PIPELINE_REMEDIES_H_
