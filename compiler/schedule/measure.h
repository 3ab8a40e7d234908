// What a schedule amounts to: its stashes and its bubble, to estimate a plan before there is one, and to compare with
// formulas. Plans are measured by runtime/measure/memory.h and runtime/sim.
#ifndef WEFT_COMPILER_SCHEDULE_MEASURE_H_
#define WEFT_COMPILER_SCHEDULE_MEASURE_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace weft::schedule {

/// One line a stage, units separated by blanks, as `parse` reads it.
std::string print(const Order &order);

/// Micro-batches in flight at most of one chunk.
struct Stash {
  int toBackward = 0; // between F and B
  int toWeight = 0;   // between B and W; 0 if backwards are not split
  int held = 0;       // between F and the last of B and W
};

/// For every stage, for each of its chunks. The schedule passes `check`.
std::vector<std::vector<Stash>> stashes(const Schedule &schedule);

/// For every stage, the most activations of chunks that it holds at once, all its chunks together, each from F to the
/// last of B and W. A chunk's activations are 1/v of a stage's.
std::vector<int> mostHeld(const Schedule &schedule);

/// 1 for F, 2 for B; where backwards are split, 1 for each of F, B and W.
Durations unitDurations(const Order &order);

/// What comes out if stages run their lists, every unit as soon as it can, and transfers take no time.
struct Times {
  std::vector<std::vector<double>> begins; // of every unit of the order
  std::vector<double> busy;                // of every stage
  double makespan = 0;                     // from the first unit's begin to the last one's end
  double bubble = 0;                       // the part of makespan that stages are idle, over all stages
};

/// The schedule passes `check`.
Times unitTimes(const Schedule &schedule, const Durations &durations);

/// The same where every chunk of the model has durations of its own, and what goes from one stage to another comes as
/// much later as `transfer` says of the two.
Times unitTimes(const Schedule &schedule, const std::vector<Durations> &ofChunks,
                const std::function<double(int from, int to)> &transfer);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_MEASURE_H_
