// How ranks exchange data. Implementations: local/ (ranks are threads of one
// process), mpi/ (ranks are processes) and nccl/ (ranks are processes with a GPU each). Operations are prepared when a
// plan is loaded and then run without allocating.
#ifndef WEFT_RUNTIME_COLLECTIVE_COMMUNICATOR_H_
#define WEFT_RUNTIME_COLLECTIVE_COMMUNICATOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/collective/spec.h"

namespace weft::collective {

// One rank's side of a bundle of collectives, a send or a receive; run again and
// again, by one thread at a time. After an abort, no operation is destroyed until all
// ranks have left theirs.
class Operation {
 public:
  virtual ~Operation() = default;

  // Takes part: returns when the inputs may be overwritten and the outputs are
  // complete, as seen from `stream` (a device's stream handle; null on the
  // host, where it means now). A bundle has an input and an output for each of
  // its specs; a send has one input and no output, a receive one output and no
  // input. A collective gives every member the same bits: it sums in the order
  // of the group. Inputs and outputs do not overlap, but an all_reduce may be
  // given one address for both.
  // An error (an abort, or members that issued different operations) leaves
  // the outputs undefined.
  virtual absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) = 0;

  // While Run() waits: "all_reduce #812 of group data[1]; rank 7 has not issued
  // it", "all_reduce of 12 tensors #812 ...". Otherwise "". Any thread.
  virtual std::string Waiting() const { return ""; }

  // Of what Run() has left on a stream, if it is the next to end: "all_reduce #812 of group data[1]". Any thread.
  virtual std::string Left() const { return ""; }
};

// One rank's way to the others. Create...() is called by one thread while
// nothing runs; Abort() by any thread at any time. Outlives its operations.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // A bundle of one or more collectives, which meet once. This rank is a member
  // of `group`. Members create their operations of a group in any order, and
  // each runs them in the order of the others.
  virtual absl::StatusOr<std::unique_ptr<Operation>> CreateCollective(const Group& group,
                                                                      const std::vector<CollectiveSpec>& specs) = 0;

  // One end of a transfer. `sends`: sends to every peer its block of the input tile, and returns when all have it;
  // else fills the output tile with the blocks of all peers.
  virtual absl::StatusOr<std::unique_ptr<Operation>> CreateTransfer(bool sends, DType dtype,
                                                                    const std::vector<Link>& links) = 0;

  // Memory beside the tensors that the operations made so far work in.
  virtual int64_t staging_bytes() const { return 0; }

  // After the last Create...() of all ranks and before the first Run(), once: all
  // ranks call it at the same time. An error, or an abort, ends it on all.
  virtual absl::Status Connect() { return absl::OkStatus(); }

  // What has gone wrong with work that a Run() has left on a stream. Any thread.
  virtual absl::Status Check() { return absl::OkStatus(); }

  // Makes every waiting and every later Run(), of all ranks, return `reason`.
  virtual void Abort(const absl::Status& reason) = 0;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_COMMUNICATOR_H_
