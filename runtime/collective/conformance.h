// What every implementation of Communicator must do, as tests that run on each
// of its ranks. An implementation instantiates the suite:
//
//   INSTANTIATE_TEST_SUITE_P(Local, CollectiveConformance, testing::Values(&RunLocally));
#ifndef WEFT_RUNTIME_COLLECTIVE_CONFORMANCE_H_
#define WEFT_RUNTIME_COLLECTIVE_CONFORMANCE_H_

#include <functional>

#include "gtest/gtest.h"
#include "runtime/collective/communicator.h"

namespace weft::collective {

using Body = std::function<void(Communicator&)>;

// Calls `body` once on each of `ranks` ranks, at the same time, and returns
// when all have returned. Ranks that are processes call it on their own one.
using RunRanks = void (*)(int ranks, const Body& body);

// Runs an operation of one tensor; null: it has no input, or no output.
inline absl::Status RunOne(Operation& operation, const void* input, void* output) {
  return operation.Run(absl::MakeConstSpan(&input, input != nullptr ? 1 : 0),
                       absl::MakeConstSpan(&output, output != nullptr ? 1 : 0), nullptr);
}

class CollectiveConformance : public ::testing::TestWithParam<RunRanks> {
 protected:
  // Aborts the others if the body of one rank fails, so that no test hangs.
  void Run(int ranks, const Body& body) {
    GetParam()(ranks, [&](Communicator& communicator) {
      body(communicator);
      if (HasFailure()) communicator.Abort(absl::AbortedError("the test has failed on another rank"));
    });
  }
};

// What those must do beside whose ranks hear of each other while they wait: say who
// is missing, and find out that members issue different operations.
class CollectiveAgreement : public CollectiveConformance {};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_CONFORMANCE_H_
