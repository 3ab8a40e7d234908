// Keys of a job with graph.auto_parallel that no layout has together.
#ifndef WEFT_COMPILER_AUTO_CONFLICTS_H_
#define WEFT_COMPILER_AUTO_CONFLICTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/job.pb.h"

namespace weft::compiler {

/// Looks at the keys that a valid job sets, before anything is compiled: whether the sizes of axes divide the ranks of
/// the cluster and leave ranks for the stages that other keys are of, whether zero.group divides what can be data
/// ranks, whether the schedule has the chunks.
/// kInvalidArgument names the key, what was expected and what was found. What depends on the model is found later.
absl::Status checkKeys(const Job &asked, const Cluster &cluster);

/// Looks at the keys of stages that a valid job sets, beside what the model may be cut into: whether there are as many
/// pieces as chunks, and whether `pipeline.cuts` are some of them, in their order. Errors are as above.
absl::Status checkPieces(const Job &asked, const std::vector<std::string> &pieces);

/// The error of a job whose keys no layout has, though each may be right.
absl::Status noLayout(const Job &asked, const Cluster &cluster);

} // namespace weft::compiler

#endif // WEFT_COMPILER_AUTO_CONFLICTS_H_
