#include "runtime/data/blend.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft::data {
namespace {

constexpr double kRounding = 1.5e-6;  // of a sum of weights: three times 0.333333 is a whole

}  // namespace

absl::StatusOr<Blend> Blend::Create(const std::vector<double>& weights) {
  std::vector<int64_t> shares;
  for (const double weight : weights) {
    if (!(weight * kPeriod >= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected weights of at least one in ", kPeriod, ", got ", weight));
    }
    shares.push_back(static_cast<int64_t>(std::min(weight, 1.0) * kPeriod));
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(std::abs(total - 1) <= kRounding)) {
    return absl::InvalidArgumentError(absl::StrFormat("expected weights that sum to 1, got %.9g", total));
  }
  // What was rounded away goes to those who lost most.
  std::vector<std::pair<double, size_t>> lost;  // negated, to sort the largest first
  for (size_t i = 0; i < shares.size(); ++i) {
    lost.emplace_back(static_cast<double>(shares[i]) - weights[i] * kPeriod, i);
  }
  std::sort(lost.begin(), lost.end());
  const int64_t rest = kPeriod - std::accumulate(shares.begin(), shares.end(), int64_t{0});
  for (int64_t i = 0; i < rest; ++i) ++shares[lost[i % lost.size()].second];
  return Blend(std::move(shares));
}

// Each slot goes to the set that is furthest behind its share.
Blend::Blend(std::vector<int64_t> shares) : shares_(std::move(shares)) {
  std::vector<int32_t> given(shares_.size(), 0);
  slots_.reserve(kPeriod);
  for (int64_t slot = 0; slot < kPeriod; ++slot) {
    const auto behind = [&](size_t set) { return shares_[set] * (slot + 1) - kPeriod * given[set]; };
    size_t next = 0;
    for (size_t set = 1; set < shares_.size(); ++set) {
      if (behind(set) > behind(next)) next = set;
    }
    slots_.push_back({static_cast<int32_t>(next), given[next]++});
  }
}

}  // namespace weft::data
