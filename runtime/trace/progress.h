// The progress line of a training run, for people.
#ifndef WEFT_RUNTIME_TRACE_PROGRESS_H_
#define WEFT_RUNTIME_TRACE_PROGRESS_H_

#include <cstdint>
#include <cstdio>
#include <string>

#include "runtime/trace/metrics.h"

namespace weft::trace {

// "step   12/200  loss 5.4321  norm 1.234  lr 6.00e-04  12345 tokens/s  45.6 GFLOP/s  31 % of measured, 25 % of stated
// peak  123 MiB (0.8 %)  0:42 left"
// `seconds_left` below 0: not known. What a metric lacks is left out.
std::string ProgressLine(const StepMetrics& metrics, int64_t last_step, double seconds_left);

// "0:42", "1:00:07".
std::string DurationText(double seconds);

// Shows the line: on a terminal in place, otherwise a line now and then (the
// first steps, then at most one in `interval_s` seconds, and the last). That of an evaluation is shown, and stays. One
// thread.
class Progress {
 public:
  // `done` steps were done before; `last_step` is the last one. `every`: a line that stays after so many steps, and the
  // last one, instead; 0: not. Does not own `out`.
  Progress(std::FILE* out, bool terminal, int64_t done, int64_t last_step, double interval_s = 2.0, int64_t every = 0)
      : out_(out), terminal_(terminal), done_(done), last_step_(last_step), interval_s_(interval_s), every_(every) {}
  // Ends the line on a terminal.
  ~Progress();

  // `elapsed_s`: seconds since the run's first step began.
  void Show(const StepMetrics& metrics, double elapsed_s);

 private:
  std::FILE* out_;
  bool terminal_;
  int64_t done_;
  int64_t last_step_;
  double interval_s_;
  int64_t every_;
  double shown_s_ = -1e30;
  bool open_line_ = false;
};

}  // namespace weft::trace

#endif  // WEFT_RUNTIME_TRACE_PROGRESS_H_
