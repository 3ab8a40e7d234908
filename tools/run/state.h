// Parameters and optimizer state of a cluster, from and to checkpoints.
#ifndef WEFT_TOOLS_RUN_STATE_H_
#define WEFT_TOOLS_RUN_STATE_H_

#include "absl/status/status.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoint_writer.h"
#include "runtime/executor/cluster.h"
#include "tools/run/train.h"

namespace weft::run {

// Everything from a checkpoint that is verified. All processes come, and get the
// same error; so with a save.
absl::Status LoadCheckpoint(const Context& context, executor::Cluster& cluster, checkpoint::CheckpointReader& reader);

// Everything to a checkpoint; every rank writes what it speaks for. kAborted,
// and nothing is saved, if a tensor has an element that is not finite, unless
// the request allows it.
absl::Status SaveCheckpoint(const Context& context, executor::Cluster& cluster,
                            checkpoint::CheckpointWriter::Options options);

// kAborted naming a tensor of this process's ranks that has an element that is not finite.
absl::Status CheckFiniteState(executor::Cluster& cluster);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_STATE_H_
