// How a plan's layout was chosen, as text.
#ifndef WEFT_RUNTIME_SHOW_DECISION_H_
#define WEFT_RUNTIME_SHOW_DECISION_H_

#include <string>

#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// What a layout takes more than the chosen one, in seconds. The parts add up to the step's.
struct Loss {
  double step_s = 0;
  double compute_s = 0;
  double exposed_comm_s = 0;  // communication that the rank waits for
  double waiting_s = 0;       // for other stages (a pipeline's bubble), and all else
  // The largest of the parts: "computation", "exposed communication", "waiting"; empty if none is above 0.
  std::string most;
};

// Of two layouts that were compiled. Any thread.
Loss LossOf(const Alternative& best, const Alternative& other);

// What graph.auto_parallel chose, how far that may be from the best, what became of the other layouts, what the next
// best lose by, and which faster ones the memory refused. Lines that end; empty if nothing was chosen. Any thread.
std::string DecisionText(const Decision& decision);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_SHOW_DECISION_H_
