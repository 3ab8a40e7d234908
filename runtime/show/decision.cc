#include "runtime/show/decision.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/plan/names.h"
#include "runtime/show/table.h"

namespace weft::plan {
namespace {

// "+10.0 ms", "-10.0 ms"; "0 s" for what would be 0.00 us, such as the rounding of a sum.
std::string MoreText(double seconds) {
  if (std::abs(seconds) < 5e-9) return SecondsText(0);
  return absl::StrCat(seconds < 0 ? "-" : "+", SecondsText(std::abs(seconds)));
}

std::string SlowerText(const Alternative& best, const Alternative& other) {
  return absl::StrFormat("%+.1f %%", 100 * (other.step_s() / best.step_s() - 1));
}

std::string RunnersUpText(const Decision& decision) {
  if (decision.best_size() < 2) return "";
  const Alternative& best = decision.best(0);
  Table table(4, {0, 1, 2, 3, 4});
  table.Add({"", "step", "computation", "exposed", "waiting", "loses by"});
  for (int i = 1; i < decision.best_size(); ++i) {
    const Alternative& other = decision.best(i);
    const Loss loss = LossOf(best, other);
    table.Add({SlowerText(best, other), MoreText(loss.step_s), MoreText(loss.compute_s), MoreText(loss.exposed_comm_s),
               MoreText(loss.waiting_s), loss.most, other.keys()});
  }
  return "  the next best, and what they take more, of which computation, exposed communication and waiting\n" +
         table.Text();
}

std::string RefusedText(const Decision& decision) {
  if (decision.refused().empty()) return "";
  Table table(4, {0, 1});
  for (const Alternative& it : decision.refused()) {
    const std::string large = it.full_tier().empty() ? BytesText(it.bytes() - decision.memory_bytes()) + " too large"
                                                     : absl::StrCat(BytesText(it.tier_lacks_bytes()),
                                                                    " too large for tier `", it.full_tier(), "`");
    table.Add({SlowerText(decision.best(0), it), large, it.compute_s() > 0 ? "" : "estimated", it.keys()});
  }
  return absl::StrCat("  faster, but not within the ", BytesText(decision.memory_bytes()), " of memory\n",
                      table.Text());
}

}  // namespace

Loss LossOf(const Alternative& best, const Alternative& other) {
  Loss loss{other.step_s() - best.step_s(), other.compute_s() - best.compute_s(),
            other.exposed_comm_s() - best.exposed_comm_s(), 0, ""};
  loss.waiting_s = loss.step_s - loss.compute_s - loss.exposed_comm_s;
  const std::pair<double, const char*> parts[] = {
      {loss.compute_s, "computation"}, {loss.exposed_comm_s, "exposed communication"}, {loss.waiting_s, "waiting"}};
  const auto& most = *std::max_element(std::begin(parts), std::end(parts),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
  if (most.first > 0) loss.most = most.second;
  return loss;
}

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
  return absl::StrCat(text, RunnersUpText(decision), RefusedText(decision));
}

}  // namespace weft::plan
