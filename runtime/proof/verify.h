// The proof of a plan: that it ends, and that no act reads or destroys what it
// should not. It is made after compilation and again when a plan is loaded.
#ifndef WEFT_RUNTIME_PROOF_VERIFY_H_
#define WEFT_RUNTIME_PROOF_VERIFY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

struct VerifyOptions {
  // Bytes of a device's memory that a rank may use; 0: do not look.
  int64_t device_bytes = 0;
};

// Validates the plan (validate.h), then executes one step abstractly; as all
// orders are static, it decides for every step of every rank. Refuses:
// - a blocked act, with the cycle of acts that wait for each other. A send that
//   only a buffering network would let go is blocked;
// - collectives of one stage on different streams whose groups share a mesh
//   axis and that nothing orders: ranks might issue them in different orders.
//   (Within a stream the order is the same on every rank, as is the size.)
// - a buffer that is read before it is written, or overwritten while live;
// - live buffers that overlap in bytes without an order between their uses;
// - state that shares bytes with anything;
// - an arena above the device's memory, with what takes it (PeakText of runtime/measure/largest.h, some lines);
// - a lower bound of the memory that is not that of the schedule (memory.h);
// - an evaluation that is refused by itself, or beside the training (evaluation.h).
// kInvalidArgument: not valid; kFailedPrecondition: blocked or unordered;
// kResourceExhausted: too large. Takes time and memory in proportion to the
// acts of a step; an actor's kernels are looked at once, not once an act. Any
// thread; the plan is only read.
absl::Status Verify(const Plan& plan, const VerifyOptions& options = {});

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PROOF_VERIFY_H_
