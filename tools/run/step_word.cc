#include "tools/run/step_word.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace weft::run {

namespace {

constexpr size_t kFirstMetric = 9;

double NumberOf(bool is) { return is ? 1 : 0; }

// As it is sent: step, stop, bytes, what is written, and what is due, then two numbers a metric: whether it is there,
// and its value.
std::vector<double> NumbersOf(const StepWord& word) {
  std::vector<double> numbers = {
      static_cast<double>(word.step), static_cast<double>(word.stop), static_cast<double>(word.resident_bytes),
      NumberOf(word.at_rest),         NumberOf(word.snapshot_done),   NumberOf(word.save),
      NumberOf(word.snapshot),        NumberOf(word.slow_ranks),      NumberOf(word.replicas)};
  for (const std::optional<float>& value : word.metrics) {
    numbers.insert(numbers.end(), {NumberOf(value.has_value()), value.value_or(0)});
  }
  return numbers;
}

}  // namespace

absl::StatusOr<StepWord> Exchange(Processes& processes, const StepWord& own) {
  if (processes.alone()) return own;
  std::vector<double> numbers = NumbersOf(own);
  const size_t bytes = numbers.size() * sizeof(double);
  const auto words = processes.AllGather(std::string(reinterpret_cast<const char*>(numbers.data()), bytes));
  if (!words.ok()) return words.status();
  StepWord all{.step = own.step, .metrics = std::vector<std::optional<float>>(own.metrics.size())};
  for (size_t r = 0; r < words->size(); ++r) {
    numbers[0] = -1;  // of a word of another length
    if ((*words)[r].size() == bytes) std::memcpy(numbers.data(), (*words)[r].data(), bytes);
    const auto step = static_cast<int64_t>(numbers[0]);
    if (step != own.step) {
      return absl::InternalError(absl::StrCat("rank ", r, ": expected step ", own.step, ", got ", step));
    }
    all.stop = std::max(all.stop, static_cast<Stop>(numbers[1]));
    all.resident_bytes += static_cast<int64_t>(numbers[2]);
    all.at_rest = all.at_rest && numbers[3] != 0;
    all.snapshot_done = all.snapshot_done && numbers[4] != 0;
    if (r == 0) {
      all.save = numbers[5] != 0;
      all.snapshot = numbers[6] != 0;
      all.slow_ranks = numbers[7] != 0;
      all.replicas = numbers[8] != 0;
    }
    for (size_t i = 0; i < all.metrics.size(); ++i) {
      const double* const metric = &numbers[kFirstMetric + 2 * i];
      if (!all.metrics[i].has_value() && metric[0] != 0) all.metrics[i] = static_cast<float>(metric[1]);
    }
  }
  return all;
}

}  // namespace weft::run
