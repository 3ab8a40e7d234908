// When something that a training does now and then is due, by its steps or by the clock: such as a checkpoint.
#ifndef WEFT_TOOLS_RUN_DUE_TIMES_H_
#define WEFT_TOOLS_RUN_DUE_TIMES_H_

#include <cstdint>

#include "tools/run/request.h"

namespace weft::run {

// All processes have the same answers: one of them looks at its clock, and all hear of it.
class DueTimes {
 public:
  // The clock goes from `now_ns` on.
  DueTimes(const Interval& every, int64_t now_ns) : every_(every), begin_ns_(now_ns) {}

  // Whether it is due, by the clock.
  bool IsOver(int64_t now_ns) const;
  // It is due: all do it once `steps` are done, the first ones that no process is behind.
  void Ask(int64_t steps) { asked_ = steps; }
  // Whether all do it once so many steps are done.
  bool IsAfter(int64_t steps) const;
  // It is done now. The clock goes from there.
  void Begin(int64_t now_ns) { begin_ns_ = now_ns; }

  // Whether it was due after steps of before: true where only the clock knew.
  bool MayHaveBeenAfter(int64_t steps) const { return every_.seconds > 0 || IsAfter(steps); }

 private:
  const Interval every_;
  int64_t begin_ns_;
  int64_t asked_ = -1;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_DUE_TIMES_H_
