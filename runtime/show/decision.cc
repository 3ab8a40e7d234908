#include "runtime/show/decision.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/plan/names.h"
#include "runtime/show/table.h"

namespace weft::plan {
namespace {

// The part of the step in which `other` takes most longer than `best`.
std::string LosesBy(const Alternative& best, const Alternative& other) {
  const std::pair<double, const char*> parts[] = {
      {other.compute_s() - best.compute_s(), "more computation"},
      {other.exposed_comm_s() - best.exposed_comm_s(), "more exposed communication"},
      {other.waiting_s() - best.waiting_s(), "more waiting"},
  };
  const auto& most = *std::max_element(std::begin(parts), std::end(parts));
  return most.first > 0 ? absl::StrCat(SecondsText(most.first), " ", most.second) : "";
}

}  // namespace

std::string DecisionText(const Decision& decision) {
  if (decision.best_size() == 0) return "";
  const Alternative& best = decision.best(0);
  std::string text = absl::StrCat("chosen: ", best.keys().empty() ? "the only layout" : best.keys(), "\n");
  absl::StrAppend(
      &text,
      absl::StrFormat("  %.1f %% above %s, which no layout beats; the search ended: %s\n", 100 * decision.gap(),
                      SecondsText(decision.bound_s()), decision.ended()),
      absl::StrFormat(
          "  of %s layouts %s can be no faster, %s are impossible, %s estimated (%s too large), %s not looked "
          "at; %d compiled\n",
          CountText(decision.considered()), CountText(decision.dropped_by_bound()), CountText(decision.impossible()),
          CountText(decision.estimated()), CountText(decision.dropped_by_memory()), CountText(decision.unseen()),
          decision.compiled()));
  Table table(2);
  for (int i = 1; i < decision.best_size(); ++i) {
    const Alternative& other = decision.best(i);
    table.Add(
        {absl::StrFormat("%+.1f %%", 100 * (other.step_s() / best.step_s() - 1)), other.keys(), LosesBy(best, other)});
  }
  return text + table.Text();
}

}  // namespace weft::plan
