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

// The tier of a cluster, below every device: memory of the host, in which half of a copy of 500 bytes is latency.
inline constexpr char kTier[] =
    "cluster.tier={name: \"host\" kind: HOST read_bytes_s: 1e9 write_bytes_s: 5e8 latency_s: 5e-7 update_bytes_s: 1e9}";

// What the compiler is told of the ranks.
struct Machine {
  bool search = false;      // no room to spare: it looks for arenas as small as can be, which takes seconds
  bool fast_links = false;  // messages take next to no time: what is gathered is kept as shards, and gathered again
};

// An error of compile() begins with "compile: ", unless it was printed; one of the run with "run: ". Ranks that hold
// the same tile must hold the same bits.
absl::StatusOr<Result> Train(const std::string& job, const std::vector<std::string>& overrides, int64_t vocab,
                             int steps, const Machine& machine = {});

}  // namespace weft::fuzz

#endif  // WEFT_TESTS_FUZZ_TRAIN_H_
