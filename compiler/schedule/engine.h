// List scheduling of a pipeline in unit times: which units begin when, under limits of memory.
#ifndef WEFT_COMPILER_SCHEDULE_ENGINE_H_
#define WEFT_COMPILER_SCHEDULE_ENGINE_H_

#include <functional>
#include <optional>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace weft::schedule {

/// How a stage chooses among the units that could begin: F before B before W, each within limits.
struct Rules {
  /// Backwards are two units.
  bool split = false;
  /// Which unit of one kind is preferred: that of the least rank.
  std::function<long(const Unit &)> rank = [](const Unit &unit) { return long(unit.microBatch); };
  /// F and B begin only in the order of their ranks, each for itself: the next one is waited for.
  bool inSequence = false;
  /// For every stage, how many of its activations (one a chunk and micro-batch) may wait for their B.
  std::vector<int> mostOpen;
  /// For every stage, how many activations may be held, to the last of B and W.
  std::vector<int> mostHeld;
  /// For every stage, how many W may wait; if more do, W goes before B. Empty: any number.
  std::vector<int> mostWaiting;
  /// F of a chunk leaves one place of mostHeld for each later chunk of the stage, so that what is begun can be
  /// finished.
  bool reserve = false;
};

struct Simulated {
  Order order;
  int makespan = 0;
};

/// Simulates in steps of time 1: F takes 1, B 2 or, where it is split, 1, W 1. At every step each idle stage begins the
/// unit that the rules prefer among those that can begin. Nothing if the rules let the pipeline block.
std::optional<Simulated> simulate(const Shape &shape, const Rules &rules);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_ENGINE_H_
