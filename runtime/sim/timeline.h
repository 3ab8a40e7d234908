// A simulated step to look at: as text, and in the form of a measured trace.
#ifndef WEFT_RUNTIME_SIM_TIMELINE_H_
#define WEFT_RUNTIME_SIM_TIMELINE_H_

#include <cstdint>
#include <string>

#include "runtime/plan/plan.pb.h"
#include "runtime/sim/simulate.h"
#include "runtime/trace/timeline.h"

namespace weft::sim {

// A predicted rank is the process of this number more than the rank's own.
inline constexpr int kPredictedProcess = 1 << 24;

struct TimelineOptions {
  bool unit_times = false;  // as the report was made; a column is a unit then
  int columns = 0;          // 0: what `width` has room for, else one a unit, or 40
  int width = 0;            // of the screen, in characters; 0: not known
};

// A line for every compute stream and every other one that has something to show,
// stage by stage, then the step and a legend. A column is an equal part of the step
// and names the unit that takes most of it: F, B or W (forward, backward, its weight
// part), U for the update, O for other work, and the micro-batch unless it is done
// once a step, with ".1" for the second chunk of a stage, ".2" for the third; a point
// where the stream is idle for more than half of it. A unit that takes most of no
// column stands in one all the same: "F2+3" is F2 and three that are shorter.
std::string TimelineText(const plan::Plan& plan, const Report& report, const TimelineOptions& options = {});

// The acts as one rank of each stage would trace them, the first, as step `step` (from 0)
// from time 0 on. Made by the same writer as a measured trace.
trace::Timeline TimelineOf(const plan::Plan& plan, const Report& report, int64_t step);

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_TIMELINE_H_
