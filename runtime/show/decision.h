// How a plan's layout was chosen, as text.
#ifndef WEFT_RUNTIME_SHOW_DECISION_H_
#define WEFT_RUNTIME_SHOW_DECISION_H_

#include <string>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// What graph.auto_parallel chose, how far that may be from the best, what became of the other layouts, and what the
// next best lose by: computation, communication that the rank waits for, or other waiting, a pipeline's bubble among
// it. Lines that end; empty if nothing was chosen. Any thread.
std::string DecisionText(const Decision& decision);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_DECISION_H_
