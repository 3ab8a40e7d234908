// Parameters and optimizer state of a cluster, from and to files.
#ifndef WEFT_TOOLS_RUN_STATE_H_
#define WEFT_TOOLS_RUN_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoint_writer.h"
#include "runtime/executor/local_cluster.h"
#include "runtime/plan/plan.pb.h"

namespace weft::run {

// Parameters from a .safetensors file; `prefixes` are tried before a name that
// the file lacks. Optimizer state stays as it is.
absl::Status LoadParameters(executor::LocalCluster& cluster, const std::string& path,
                            const std::vector<std::string>& prefixes);

// Everything from a checkpoint; the ranks share the work of verifying it.
absl::Status LoadCheckpoint(executor::LocalCluster& cluster, checkpoint::CheckpointReader& reader);

// Everything to a checkpoint; every rank writes what it speaks for. kAborted,
// and nothing is saved, if a tensor has an element that is not finite, unless
// `allow_nonfinite`.
absl::Status SaveCheckpoint(executor::LocalCluster& cluster, const plan::Plan& plan, bool allow_nonfinite,
                            checkpoint::CheckpointWriter::Options options);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_STATE_H_
