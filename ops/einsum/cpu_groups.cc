#include "ops/einsum/cpu_groups.h"

namespace weft::einsum {

absl::Status Groups::Read(const int32_t* counts) {
  const GroupedProblem& p = problem_;
  std::fill(size_.begin(), size_.end(), 0);
  for (int64_t outer = 0; outer < p.outer; ++outer) {
    int64_t sum = 0;
    for (int64_t g = 0; g < p.groups; ++g) {
      const int64_t at = outer * p.groups + g;
      sum += counts[at];
      if (counts[at] < 0 || sum > p.rows) return BadCount(p, at, counts[at]);
      if (IsOwn(g)) size_[g - p.begin] += counts[at];
    }
  }
  for (int64_t g = 0; g < p.count; ++g) first_[g + 1] = first_[g] + (size_[g] + unit_ - 1) / unit_ * unit_;
  std::fill(place_of_.begin(), place_of_.end(), -1);
  std::fill(row_of_.begin(), row_of_.end(), -1);
  std::fill(size_.begin(), size_.end(), 0);  // of what has been placed so far
  for (int64_t outer = 0; outer < p.outer; ++outer) {
    int64_t row = outer * p.rows;
    for (int64_t g = 0; g < p.groups; ++g) {
      for (const int64_t end = row + counts[outer * p.groups + g]; row < end; ++row) {
        if (!IsOwn(g)) continue;
        const int64_t place = first_[g - p.begin] + size_[g - p.begin]++;
        row_of_[place] = row;
        place_of_[row] = place;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::einsum
