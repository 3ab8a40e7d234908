// What the processes of a run tell each other after every step.
#ifndef WEFT_TOOLS_RUN_STEP_WORD_H_
#define WEFT_TOOLS_RUN_STEP_WORD_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/run/interrupts.h"
#include "tools/run/processes.h"

namespace weft::run {

// Of one process, or of all together.
struct StepWord {
  int64_t step = 0;            // from 1
  Stop stop = Stop::kNo;       // the heaviest
  int64_t resident_bytes = 0;  // the sum
  // What is due by the clock of the first process: a checkpoint, a snapshot, a look for slow ranks, a comparison of
  // replicas.
  bool save = false, snapshot = false, slow_ranks = false, replicas = false;
  bool at_rest = true;        // nothing is left to write of a checkpoint: of all
  bool snapshot_done = true;  // and of a snapshot
  // One for each metric of the plan, in its order: that of the lowest rank that has it.
  std::vector<std::optional<float>> metrics;
};

// Every process gives its word and gets that of all: the metrics of the stages
// that compute them, and one answer to whether the run stops after this step.
// kInternal if they are not at the same step.
absl::StatusOr<StepWord> Exchange(Processes& processes, const StepWord& own);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_STEP_WORD_H_
