#include "compiler/search/frontier.h"

#include <algorithm>

namespace weft::search {

void keepUndominated(std::vector<Price> &prices) {
  std::sort(prices.begin(), prices.end(),
            [](Price a, Price b) { return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds; });
  size_t kept = 0;
  for (const Price price : prices) {
    if (kept == 0 || price.seconds < prices[kept - 1].seconds) {
      prices[kept++] = price;
    }
  }
  prices.resize(kept);
}

int64_t coarsen(Frontier &frontier, size_t most) {
  if (frontier.size() <= most) {
    return 0;
  }
  // A point stays if it saves more than `step` beside the last one that stayed; that is so less than `most` times
  // beside the first one.
  const int64_t step = (frontier.front().seconds - frontier.back().seconds) / int64_t(most);
  int64_t lost = 0;
  size_t kept = 1;
  for (size_t i = 1; i < frontier.size(); ++i) {
    if (const int64_t saved = frontier[kept - 1].seconds - frontier[i].seconds; saved > step) {
      frontier[kept++] = frontier[i];
    } else {
      lost = std::max(lost, saved);
    }
  }
  frontier.resize(kept);
  return lost;
}

} // namespace weft::search
