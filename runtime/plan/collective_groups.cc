#include "runtime/plan/collective_groups.h"

#include <algorithm>

#include "runtime/plan/enums.h"
#include "runtime/plan/layout.h"

namespace weft::plan {

GroupedBundle CollectiveGroups::BundleOf(const Actor& actor) {
  const Collective& first = actor.collectives(0);
  GroupedBundle bundle{{}, GroupOf({first.axes().begin(), first.axes().end()})};
  for (const Collective& collective : actor.collectives()) {
    const CollectiveKind kind = KindOf(collective.kind());
    const auto bytes = static_cast<double>(LocalBytes(*program_.placement, program_.buffer(collective.input())));
    // What is brought in parts counts whole.
    bundle.bytes.emplace_back(kind, bytes * (FactsOf(kind).gathers ? static_cast<double>(bundle.group.ranks) : 1));
  }
  return bundle;
}

const Spread& CollectiveGroups::GroupOf(const std::vector<int32_t>& axes) {
  const auto [it, is_new] = groups_.try_emplace(axes);
  if (!is_new) return it->second;
  const Placement& placement = *program_.placement;
  for (int64_t r = 0; r < RankCount(placement); ++r) {
    const std::vector<int64_t> at = Coordinates(placement, r);
    if (std::any_of(axes.begin(), axes.end(), [&](int32_t axis) { return at[axis] != 0; })) continue;  // seen already
    std::vector<int64_t> ranks;
    for (int64_t member : plan::GroupOf(placement, axes, r)) ranks.push_back(placement.ranks(static_cast<int>(member)));
    const Spread spread = SpreadOf(machine_, ranks);
    if (r == 0 || spread.on_a_node < it->second.on_a_node) it->second = spread;
  }
  return it->second;
}

}  // namespace weft::plan
