// The steps of a run, one after another; the next one may begin while one is reported.
#ifndef WEFT_TOOLS_RUN_STEPS_H_
#define WEFT_TOOLS_RUN_STEPS_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::run {

// What a run does with a step, which is counted from 0.
struct StepLoop {
  std::function<void(int64_t step)> begin;
  std::function<absl::Status()> end;  // waits for it
  // Between end() and the begin() that follows: takes what the step has left. False: nothing may begin before the step
  // is reported, as what that does needs a state at rest.
  std::function<absl::StatusOr<bool>(int64_t step)> take;
  // Tells of it. False: the run stops, behind a step that has begun already.
  std::function<absl::StatusOr<bool>(int64_t step)> report;
};

// From `step` on, which is the number of steps that are done, until `last` are done or the run stops. An error ends it
// when nothing runs any more.
inline absl::Status RunSteps(int64_t step, int64_t last, const StepLoop& loop) {
  bool begun = false, go_on = true;
  for (; step < last && (go_on || begun); ++step) {
    if (!begun) loop.begin(step);
    if (absl::Status status = loop.end(); !status.ok()) return status;
    const absl::StatusOr<bool> may_begin = loop.take(step);
    if (!may_begin.ok()) return may_begin.status();
    begun = *may_begin && go_on && step + 1 < last;
    if (begun) loop.begin(step + 1);
    const absl::StatusOr<bool> reported = loop.report(step);
    if (!reported.ok()) {
      if (begun) loop.end().IgnoreError();
      return reported.status();
    }
    go_on = go_on && *reported;
  }
  return absl::OkStatus();
}

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_STEPS_H_
