// A timeline of a run, replayed against the plan that ran.
#ifndef WEFT_TESTS_PIPELINE_REPLAY_H_
#define WEFT_TESTS_PIPELINE_REPLAY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/plan.pb.h"

namespace weft::tests {

// One act that happened; times in nanoseconds since the timeline's origin.
struct Happened {
  std::string actor;
  int64_t step = 0;
  int64_t micro_batch = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

// By rank and stream, in the order in which they were written down.
using Trace = std::map<std::pair<int, std::string>, std::vector<Happened>>;

// Reads what `weft-run --trace` wrote.
absl::StatusOr<Trace> ReadTrace(const std::string& path);

// What in the trace the plan does not permit, a line each; at most ten:
//  - a stream's acts are the plan's, in the plan's order, one after another, step for step;
//  - an act begins when those that write its registers for it have ended (a register is full before it is read) and
//  when
//    those that read the slot that it writes have (a slot is free before it is written);
//  - the two ends of a transfer overlap in time, between the ranks that exchange tiles;
//  - a rank's step begins when it has ended the one before.
std::vector<std::string> Replay(const plan::Plan& plan, const Trace& trace);

}  // namespace weft::tests

#endif  // WEFT_TESTS_PIPELINE_REPLAY_H_
