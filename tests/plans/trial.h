// Runs a plan that the verifier has passed, and looks whether the run does what the
// plan says.
#ifndef WEFT_TESTS_PLANS_TRIAL_H_
#define WEFT_TESTS_PLANS_TRIAL_H_

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

struct TrialOptions {
  int64_t steps = 3;
  std::chrono::milliseconds hang_time_out{20000};
  uint64_t delays = 0;  // which acts take longer
};

struct Trial {
  // What is wrong: a hang, an error of a step, or an act that read something else than the
  // plan says. Ok: nothing.
  absl::Status fault;
  // Why the runtime does not load the plan; ok if it does. Not a fault.
  absl::Status refused;
};

// True if a plan is small enough to be run: acts, ranks, streams and bytes.
bool IsSmall(const Plan& plan);

// Runs the plan with kernels that stamp what they write (tests/plans/stamps.h), in
// guarded arenas, on a thread for every stream of every rank.
Trial Try(const Plan& plan, const TrialOptions& options);

// Runs the plan with the kernels of the operators, on inputs that are zero: it may fail,
// but ends.
Trial TryKernels(const Plan& plan, const TrialOptions& options);

}  // namespace weft::plan

#endif  // WEFT_TESTS_PLANS_TRIAL_H_
