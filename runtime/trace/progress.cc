#include "runtime/trace/progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft::trace {
namespace {

// "  31 % of measured, 25 % of stated peak"; nothing where no peak is known.
std::string PeaksText(const StepMetrics& m) {
  std::string text;
  if (m.mfu.has_value() && m.mfu != m.mfu_cluster) text = absl::StrFormat("%.0f %% of measured", *m.mfu * 100);
  if (m.mfu_cluster.has_value())
    absl::StrAppend(&text, text.empty() ? "" : ", ", absl::StrFormat("%.0f %% of stated", *m.mfu_cluster * 100));
  return text.empty() ? "" : absl::StrCat("  ", text, " peak");
}

}  // namespace

std::string DurationText(double seconds) {
  const int64_t s = static_cast<int64_t>(seconds + 0.5);
  if (s >= 3600) return absl::StrFormat("%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
  return absl::StrFormat("%d:%02d", s / 60, s % 60);
}

std::string ProgressLine(const StepMetrics& m, int64_t last_step, double seconds_left) {
  const std::string last = absl::StrCat(last_step);
  std::string line = absl::StrFormat("step %*d/%s", static_cast<int>(last.size()), m.step, last);
  if (m.loss.has_value()) absl::StrAppend(&line, absl::StrFormat("  loss %.4f", *m.loss));
  if (m.grad_norm.has_value()) absl::StrAppend(&line, absl::StrFormat("  norm %.4g", *m.grad_norm));
  if (m.lr.has_value()) absl::StrAppend(&line, absl::StrFormat("  lr %.2e", *m.lr));
  if (m.loss_scale.has_value()) absl::StrAppend(&line, absl::StrFormat("  scale %g", *m.loss_scale));
  if (m.skipped_steps.value_or(0) > 0) absl::StrAppend(&line, absl::StrFormat("  %.0f skipped", *m.skipped_steps));
  for (const auto& [name, value] : m.of_model) {
    if (value.has_value()) absl::StrAppend(&line, "  ", name, absl::StrFormat(" %.4g", *value));
  }
  for (const auto& [name, value] : m.evaluation)
    absl::StrAppend(&line, "  ", kEvaluationPrefix, name, absl::StrFormat(" %.4g", value));
  absl::StrAppend(&line, absl::StrFormat("  %.0f tokens/s", m.tokens_per_s));
  absl::StrAppend(&line, m.tflops >= 10 ? absl::StrFormat("  %.1f TFLOP/s", m.tflops)
                                        : absl::StrFormat("  %.1f GFLOP/s", m.tflops * 1e3));
  absl::StrAppend(&line, PeaksText(m));
  absl::StrAppend(&line, absl::StrFormat("  %.0f MiB", static_cast<double>(m.memory_bytes) / (1 << 20)));
  if (m.memory_share.has_value()) absl::StrAppend(&line, absl::StrFormat(" (%.1f %%)", *m.memory_share * 100));
  if (seconds_left >= 0) absl::StrAppend(&line, "  ", DurationText(seconds_left), " left");
  return line;
}

void Progress::Show(const StepMetrics& metrics, double elapsed_s) {
  const int64_t done = metrics.step - done_;
  const bool last = metrics.step >= last_step_, evaluated = !metrics.evaluation.empty();
  const bool plain = !terminal_ || every_ > 0;
  const double interval = terminal_ ? 0.1 : interval_s_;
  const bool due = every_ > 0 ? metrics.step % every_ == 0 : done <= 3 || elapsed_s - shown_s_ >= interval;
  if (!last && !evaluated && !due) return;
  shown_s_ = elapsed_s;
  const double left =
      elapsed_s / static_cast<double>(std::max<int64_t>(done, 1)) * static_cast<double>(last_step_ - metrics.step);
  const std::string line = ProgressLine(metrics, last_step_, left);
  // The line is cleared to its end: the one before may have been longer.
  std::fprintf(out_, plain ? "%s\n" : evaluated ? "\r%s\x1b[K\n" : "\r%s\x1b[K", line.c_str());
  std::fflush(out_);
  open_line_ = !plain && !evaluated;
}

Progress::~Progress() {
  if (open_line_) std::fprintf(out_, "\n");
}

}  // namespace weft::trace
