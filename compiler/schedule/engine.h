// List scheduling of a pipeline in virtual time: whenever a stage is idle, it begins the unit that the rules prefer.
//
//   stage 0   F0 F1 .  .  B0 B0 F2 B1 B1 ...      mostOpen[0] = 2: two forwards may wait for their backwards (1F1B)
//   stage 1   .  F0 B0 B0 F1 B1 B1 F2 B2 ...      mostOpen[1] = 1
//
// The schedules of make.cc are rules for this engine.
#ifndef WEFT_COMPILER_SCHEDULE_ENGINE_H_
#define WEFT_COMPILER_SCHEDULE_ENGINE_H_

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace weft::schedule {

/// Time in whole numbers, so that two sums of the same durations are equal, in whatever order they were added.
using Ticks = long;

/// How a stage chooses among the units that could begin: F before B before W, each within limits.
struct Rules {
  /// Of F, B and W; that of W is 0 if backwards are one unit.
  std::array<Ticks, 3> ticks = {1, 2, 0};
  /// B before F before W instead.
  bool backwardFirst = false;
  /// Which unit of one kind is preferred: that of the least rank.
  std::function<long(const Unit &)> rank = [](const Unit &unit) { return long(unit.microBatch); };
  /// The F of a stage begin in the order of their ranks, and so do its B: a stage waits for the next F or B of the
  /// order and does not begin a later one instead.
  bool inSequence = false;
  /// For every stage, how many of its activations (one a chunk and micro-batch) may wait for their B.
  std::vector<int> mostOpen;
  /// For every stage, how many activations may be held, to the last of B and W.
  std::vector<int> mostHeld;
  /// For every stage, how many W may wait; if more do, W goes before the second of F and B. Empty: any number.
  std::vector<int> mostWaiting;
  /// F of a chunk leaves one place of mostHeld for each later chunk of the stage, so that what is begun can be
  /// finished.
  bool reserve = false;
  /// For every stage, how many places for activations its chunks may have together: as many for each as it ever holds,
  /// and at least one. Empty: any number.
  std::vector<int> mostPlaces;
};

struct Simulated {
  Order order;
  Ticks makespan = 0;
};

/// Simulates a step: whenever a stage is idle, it begins the unit that the rules prefer among those that can begin.
/// Nothing if the rules let the pipeline block.
std::optional<Simulated> simulate(const Shape &shape, const Rules &rules);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_ENGINE_H_
