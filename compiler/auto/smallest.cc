#include "compiler/auto/smallest.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace weft::compiler {

Smallest::Smallest(const Space &space, std::vector<Recompute::Policy> policies,
                   std::function<std::vector<int64_t>(const Choice &)> layouts, EstimateOf estimateOf)
    : space_(space), policies_(std::move(policies)), layouts_(std::move(layouts)), estimateOf_(std::move(estimateOf)) {}

// Of the first layout and schedule that are possible.
std::optional<double> Smallest::look(const Choice &choice) {
  if (const auto it = seen_.find(choice); it != seen_.end())
    return it->second;
  for (int64_t layout : layouts_(choice)) {
    for (Choice scheduled : space_.schedulesOf(choice)) {
      scheduled.layout = layout;
      const absl::StatusOr<Estimate> estimate = estimateOf_(scheduled, policies_.back());
      isOver_ = isOver_ || absl::IsResourceExhausted(estimate.status());
      if (isOver_)
        return std::nullopt;
      if (!estimate.ok())
        continue;
      seen_[choice] = estimate->bytes;
      return estimate->bytes;
    }
  }
  seen_[choice] = std::nullopt;
  return std::nullopt;
}

void Smallest::descend(const Choice &start) {
  Choice here = start;
  std::optional<double> bytes = look(here);
  for (bool moved = true; moved && !isOver_;) {
    moved = false;
    for (const Choice &near : space_.neighbours(here)) {
      const std::optional<double> there = look(near);
      if (isOver_ || !there || (bytes && *there >= *bytes))
        continue;
      here = near;
      bytes = there;
      moved = true;
      break;
    }
  }
}

std::vector<Small> Smallest::find(size_t most) {
  for (const Choice &start : space_.starts())
    descend(start);
  std::vector<std::pair<double, Choice>> near;
  for (const auto &[choice, bytes] : seen_) {
    if (bytes)
      near.push_back({*bytes, choice});
  }
  std::sort(near.begin(), near.end());
  // A start too: with another layout it may need less than what a descent has come to with the first.
  const std::vector<Choice> starts = space_.starts();
  std::vector<Choice> candidates;
  for (const auto &[bytes, choice] : near) {
    if (candidates.size() < most || std::find(starts.begin(), starts.end(), choice) != starts.end())
      candidates.push_back(choice);
  }
  std::vector<Small> all;
  for (const Choice &choice : candidates) {
    for (int64_t layout : layouts_(choice)) {
      for (Choice scheduled : space_.schedulesOf(choice)) {
        scheduled.layout = layout;
        for (Recompute::Policy policy : policies_) {
          if (absl::StatusOr<Estimate> estimate = estimateOf_(scheduled, policy); estimate.ok())
            all.push_back({scheduled, policy, *std::move(estimate)});
        }
      }
    }
  }
  const auto rank = [](const Small &small) {
    return std::tuple(small.estimate.fullTier != nullptr, small.estimate.bytes, small.choice, small.policy);
  };
  std::sort(all.begin(), all.end(), [&](const Small &a, const Small &b) { return rank(a) < rank(b); });
  all.resize(std::min(all.size(), most));
  return all;
}

} // namespace weft::compiler
