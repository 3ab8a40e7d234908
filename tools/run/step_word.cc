#include "tools/run/step_word.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace weft::run {

namespace {

// As it is sent: the fixed part, then the metrics.
struct Fixed {
  int64_t step;
  Stop stop;
  int64_t resident_bytes;
};
struct Metric {
  float value;
  bool there;
};

std::string Encode(const StepWord& word) {
  const Fixed fixed{word.step, word.stop, word.resident_bytes};
  std::string text(reinterpret_cast<const char*>(&fixed), sizeof(fixed));
  for (const std::optional<float>& value : word.metrics) {
    const Metric metric{value.value_or(0), value.has_value()};
    text.append(reinterpret_cast<const char*>(&metric), sizeof(metric));
  }
  return text;
}

// Of a word with so many metrics; one of step -1 if the text has another length.
StepWord Decode(const std::string& text, size_t metrics) {
  Fixed fixed{};
  if (text.size() != sizeof(fixed) + metrics * sizeof(Metric)) return {.step = -1};
  std::memcpy(&fixed, text.data(), sizeof(fixed));
  StepWord word{.step = fixed.step, .stop = fixed.stop, .resident_bytes = fixed.resident_bytes};
  for (size_t i = 0; i < metrics; ++i) {
    Metric metric{};
    std::memcpy(&metric, text.data() + sizeof(fixed) + i * sizeof(metric), sizeof(metric));
    word.metrics.push_back(metric.there ? std::optional<float>(metric.value) : std::nullopt);
  }
  return word;
}

}  // namespace

absl::StatusOr<StepWord> Exchange(Processes& processes, const StepWord& own) {
  if (processes.alone()) return own;
  const absl::StatusOr<std::vector<std::string>> words = processes.AllGather(Encode(own));
  if (!words.ok()) return words.status();
  StepWord all{.step = own.step, .metrics = std::vector<std::optional<float>>(own.metrics.size())};
  for (size_t r = 0; r < words->size(); ++r) {
    const StepWord word = Decode((*words)[r], own.metrics.size());
    if (word.step != own.step) {
      return absl::InternalError(absl::StrCat("rank ", r, ": expected step ", own.step, ", got ", word.step));
    }
    all.stop = std::max(all.stop, word.stop);
    all.resident_bytes += word.resident_bytes;
    for (size_t i = 0; i < word.metrics.size(); ++i) {
      if (!all.metrics[i].has_value()) all.metrics[i] = word.metrics[i];
    }
  }
  return all;
}

}  // namespace weft::run
