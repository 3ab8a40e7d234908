// The parts of a report's data (data.h), a file each.
#ifndef WEFT_TOOLS_PLAN_REPORT_PARTS_H_
#define WEFT_TOOLS_PLAN_REPORT_PARTS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/program.h"
#include "runtime/sim/costs.h"
#include "runtime/sim/simulate.h"
#include "tools/plan/events.h"

namespace weft::tools {

// A plan and its simulated step. Does not own them.
struct Reported {
  const plan::Plan& plan;
  const std::vector<plan::Program>& programs;
  const plan::Machine& machine;
  const sim::Report& report;
  const sim::Costs& costs;
};

// Of each stage its actors, in columns (`kernels`: rows of KernelsJson(), each as often as it runs) and its streams,
// with the acts in columns: actor, micro-batch, nanoseconds since the act before ended, nanoseconds that it takes, and
// what of the step's exposed communication it is.
// `transfers`: rows of source stage, sending actor, target stage, receiving actor, bytes.
Json TimelineJson(const Reported& it, const std::vector<std::vector<std::vector<int>>>& rows);

// The step of `events` whose length is the median, the first one left out where there are more: acts of the first rank
// of each stage that the trace has, in the columns of TimelineJson(). Null without such acts.
Json MeasuredJson(const Reported& it, const std::vector<Event>& events);

// Of each stage the bytes that are live over the step, by category, the most in each of `bins` parts of it; and its
// tensors in columns. `lives`: null of what persists, else rows of first actor, its micro-batch, last actor, its
// micro-batch, slot, and how many follow, each one micro-batch and one slot later.
Json MemoryJson(const Reported& it);

// Kernels that layers have alike, seconds and runs of a step and rank: means over the compute streams of all stages;
// `roofline_s`: by the device's rates alone.
// `rows`: by stage, actor and kernel its place in the list. `events`: of a trace with kernels, or empty.
Json KernelsJson(const Reported& it, const std::vector<Event>& events,
                 std::vector<std::vector<std::vector<int>>>* rows);

// What the forward does, as `ops` in their order and `edges` between them. An op stands for those that differ in the
// numbers of their layers alone. An edge has the tensor's layout where it is made and where it is read, and the boxings
// between; `next`: it goes to another instance of the same layer. `layers`: how many instances each has.
Json ModelJson(const Reported& it);

// Parameters, their gradients and what the optimizer keeps of them (`what`), those that layers have alike folded, and
// `layouts`: the tiles of a global shape, each with the ranks of the first stage that hold it.
Json ParametersJson(const Reported& it);

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_REPORT_PARTS_H_
