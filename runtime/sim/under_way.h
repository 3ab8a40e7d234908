// The event queue of the simulation: the acts that run at a point of virtual time, and when each ends.
#ifndef WEFT_RUNTIME_SIM_UNDER_WAY_H_
#define WEFT_RUNTIME_SIM_UNDER_WAY_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/program.h"

namespace weft::sim {

// Where ranks share cores (plan::ShareOfCore), the end of an act moves whenever another act begins or ends. Example:
// two acts of 2 s on one core; the second begins at 1 s, so both run at half speed and the first ends at 3 s, not 2 s.
// What computes and a collective of its stage slow each other down as the machine says.
// One rank of a stage stands for all, so an act keeps as many cores busy as the stage has ranks on the node. One
// thread.
class UnderWay {
 public:
  struct RunningAct {
    int32_t stage = 0;
    int32_t stream = 0;
    double begin_s = 0;
    double end_s = 0;  // at full speed when it is added
    int32_t cause = -1;
    bool computes = true;  // keeps a core busy; the sender of a transfer waits
    bool kernels = false;  // runs kernels
    bool collective = false;
    int32_t paced_by = 0;  // the stage that computes
    int64_t number = 0;    // in the order of begins
    double speed = 1;
  };

  UnderWay(absl::Span<const plan::Program> programs, const plan::Machine& machine);

  void Add(const RunningAct& act);
  // Removes the act that ends first; of equal ones the one that began first.
  RunningAct Pop();
  bool empty() const { return acts_.empty(); }

 private:
  void Count(const RunningAct& act, int64_t change);
  double SpeedOf(const RunningAct& act) const;
  void Pace(double now);

  const plan::Machine& machine_;
  std::vector<std::vector<int64_t>> neighbours_;  // [s][t]: ranks of stage t on the node of stage s
  std::vector<int64_t> busy_;                     // by stage: acts that compute on its node
  const bool slows_;                              // whether acts of a stage slow each other down
  std::vector<int64_t> kernels_, collectives_;    // by stage: acts that run them
  std::vector<RunningAct> acts_;
  int64_t begun_ = 0;
};

}  // namespace weft::sim

#endif  // WEFT_RUNTIME_SIM_UNDER_WAY_H_
