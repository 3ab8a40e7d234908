#include "tools/run/step_word.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"

namespace weft::run {

absl::StatusOr<StepWord> Exchange(Processes& processes, const StepWord& own) {
  static_assert(std::is_trivially_copyable_v<StepWord>);
  if (processes.alone()) return own;
  const absl::StatusOr<std::vector<std::string>> words =
      processes.AllGather(std::string(reinterpret_cast<const char*>(&own), sizeof(own)));
  if (!words.ok()) return words.status();
  StepWord all{.step = own.step};
  for (size_t r = 0; r < words->size(); ++r) {
    StepWord word;
    if ((*words)[r].size() == sizeof(word)) std::memcpy(&word, (*words)[r].data(), sizeof(word));
    if (word.step != own.step) {
      return absl::InternalError(absl::StrCat("rank ", r, ": expected step ", own.step, ", got ", word.step));
    }
    all.stop = std::max(all.stop, word.stop);
    all.resident_bytes += word.resident_bytes;
    for (int i = 0; i < StepWord::kMetrics; ++i) {
      if (!all.metrics[i].has_value()) all.metrics[i] = word.metrics[i];
    }
  }
  return all;
}

}  // namespace weft::run
