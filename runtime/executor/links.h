// Which ranks an actor exchanges data with.
#ifndef WEFT_RUNTIME_EXECUTOR_LINKS_H_
#define WEFT_RUNTIME_EXECUTOR_LINKS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/collective/communicator.h"
#include "runtime/collective/spec.h"
#include "runtime/executor/binding.h"
#include "runtime/plan/plan.pb.h"

namespace weft::executor {

// A channel for each actor of collectives, the same on all ranks of the stage:
// actors share one that are on one stream and whose groups lie along the same axes.
std::vector<int> ChannelsOf(const plan::Stage& stage);

// The group of a collective that this rank is in: "data[1]" is the second of
// the groups along axis `data`.
collective::Group GroupOf(const RankPlace& place, const plan::Collective& collective, int channel);

// What the actor's collectives do to this rank's inputs.
std::vector<collective::CollectiveSpec> BundleOf(const RankPlace& place, const plan::Actor& actor);

// The ways of this rank at one end of a transfer; none if another holder of
// its tile sends. `first_transfer`: what the communicator calls transfer 0 of this plan, where it serves several.
std::vector<collective::Link> LinksOf(const RankPlace& place, int transfer, bool sends, int first_transfer = 0);

// The operation of an actor, made of this rank's communicator, and the buffers that
// it takes. `channel`: of ChannelsOf(). Null for an actor of kernels.
struct ActorOperation {
  std::unique_ptr<collective::Operation> operation;
  std::vector<int32_t> inputs, outputs;
};
absl::StatusOr<ActorOperation> OperationOf(const RankPlace& place, const plan::Actor& actor, int channel,
                                           collective::Communicator& communicator, int first_transfer = 0);

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_LINKS_H_
