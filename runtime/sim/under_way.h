// The acts that are under way at a point of virtual time, and when each ends.
#ifndef WEFT_RUNTIME_SIM_UNDER_WAY_H_
#define WEFT_RUNTIME_SIM_UNDER_WAY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/program.h"

namespace weft::sim {

// Where cores are shared (plan::ShareOfCore) the end of an act is what it will
// be if nothing begins or ends before; it moves when something does. One rank of
// a stage stands for all, so that an act of it keeps as many cores busy as the
// stage has ranks on the node.
class UnderWay {
 public:
  struct Act {
    int32_t stage = 0;
    int32_t stream = 0;
    double begin_s = 0;
    double end_s = 0;  // at full speed when it is added
    int32_t cause = -1;
    bool computes = true;  // keeps a core busy; the sender of a transfer waits
    int32_t paced_by = 0;  // the stage that computes
    int64_t number = 0;    // in the order of begins
    double speed = 1;
  };

  UnderWay(absl::Span<const plan::Program> programs, const plan::Machine& machine);

  void Add(const Act& act);
  // Removes the act that ends first; of equal ones the one that began first.
  Act Pop();
  bool empty() const { return acts_.empty(); }

 private:
  void Count(const Act& act, int64_t change);
  void Pace(double now);

  const plan::Machine& machine_;
  std::vector<std::vector<int64_t>> neighbours_;  // [s][t]: ranks of stage t on the node of stage s
  std::vector<int64_t> busy_;                     // by stage: acts that compute on its node
  std::vector<Act> acts_;
  int64_t begun_ = 0;
};

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_UNDER_WAY_H_
