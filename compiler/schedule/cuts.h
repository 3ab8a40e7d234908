// Where a model is cut into the chunks of a schedule, such that a step is shortest.
//
//   pieces   wte | h.0 | h.1 | h.2 | h.3 | head          of which none is cut
//   chunks   \______________/ \__________/ \___/         layers are fewer where the head is
#ifndef WEFT_COMPILER_SCHEDULE_CUTS_H_
#define WEFT_COMPILER_SCHEDULE_CUTS_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "compiler/schedule/measure.h"

namespace weft::schedule {

/// What a piece of the model brings to the chunk that has it.
struct Load {
  Durations seconds = {0, 0, 0}; // of a micro-batch; `weight` is 0 where backwards are not split
  double once_s = 0;             // of a step, behind all micro-batches
  double stateBytes = 0;         // that its stage has all the time
  double keptBytes = 0;          // of a micro-batch, from its forward to its backward
  double weightBytes = 0;        // of it, from its backward to the gradients of weights, where these are apart
  double lowStateBytes = 0, lowKeptBytes = 0; // below the device, as stateBytes and keptBytes
};

struct CutProblem {
  const Schedule &schedule;                         // passes `check`
  const std::vector<std::vector<Stash>> &stashes;   // of it
  std::vector<Load> pieces;                         // in the order of the forward, at least as many as chunks
  std::function<double(int from, int to)> transfer; // seconds from a stage to another
  double limitBytes = std::numeric_limits<double>::infinity(); // of a stage's state, and of what it keeps
};

/// The piece that begins each chunk, the first included.
using Begins = std::vector<size_t>;

struct Cut {
  Begins begins;
  double makespan_s = 0;                      // of the units
  double once_s = 0;                          // of the stage that has most of it
  double bytes = 0;                           // of the stage that needs most
  double lowStateBytes = 0, lowKeptBytes = 0; // below the device, of the stage that has most of it there
  double bound_s = 0;                         // of bestCut: no cut that fits takes less
  bool isExact = false;                       // nor less than this one

  double seconds() const { return makespan_s + once_s; }
};

/// What a cut comes to, unit by unit.
Cut measured(const CutProblem &problem, const Begins &begins);

/// By dynamic programming over (pieces, chunks): where a stage has one chunk, the cut whose bound is least (see
/// cuts.cc) among those that fit or, if none does, the one that needs the fewest bytes; where it has several, the one
/// whose longest chunk is shortest. Among such cuts, that with the least sum of squares.
Cut quickCut(const CutProblem &problem);

/// The fastest cut that fits or, if none does, one that needs little: from quickCut() on, single pieces go to other
/// chunks as long as that helps; then all cuts that could be faster still are looked at. At most `most` cuts are
/// measured for that, and a thousand times as many parts of cuts looked at; `isExact` says whether these were enough.
Cut bestCut(const CutProblem &problem, int most);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_CUTS_H_
