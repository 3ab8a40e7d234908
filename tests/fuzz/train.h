// Compiles a job and trains it for a few steps on threads of this process.
#ifndef WEFT_TESTS_FUZZ_TRAIN_H_
#define WEFT_TESTS_FUZZ_TRAIN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::fuzz {

struct Result {
  std::vector<float> losses;  // one a step
  // By name, whole and row-major: parameters, and the optimizer's state. Before the first step and at the end.
  std::map<std::string, std::vector<float>> initial, state;
};

// An error of compile() begins with "compile: ", unless it was printed; one of the run with "run: ". Ranks that hold
// the same tile must hold the same bits. `search`: for arenas as small as can be, which takes seconds; without it the
// compiler is told that the devices have room.
absl::StatusOr<Result> Train(const std::string& job, const std::vector<std::string>& overrides, int64_t vocab,
                             int steps, bool search = false);

}  // namespace weft::fuzz

#endif  // WEFT_TESTS_FUZZ_TRAIN_H_
