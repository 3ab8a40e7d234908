// Parameters and optimizer state of a cluster, from and to files.
#ifndef WEFT_TOOLS_RUN_STATE_H_
#define WEFT_TOOLS_RUN_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoint_writer.h"
#include "runtime/executor/cluster.h"
#include "tools/run/train.h"

namespace weft::run {

// Parameters from a .safetensors file; `prefixes` are tried before a name that
// the file lacks. Optimizer state stays as it is.
absl::Status LoadParameters(executor::Cluster& cluster, const std::string& path,
                            const std::vector<std::string>& prefixes);

// Everything from a checkpoint; the ranks of all processes share the work of
// verifying it. All processes come, and get the same error; so with a save.
absl::Status LoadCheckpoint(const Context& context, executor::Cluster& cluster, checkpoint::CheckpointReader& reader);

// Everything to a checkpoint; every rank writes what it speaks for. kAborted,
// and nothing is saved, if a tensor has an element that is not finite, unless
// the request allows it.
absl::Status SaveCheckpoint(const Context& context, executor::Cluster& cluster,
                            checkpoint::CheckpointWriter::Options options);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_STATE_H_
