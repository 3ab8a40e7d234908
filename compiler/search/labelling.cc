#include "compiler/search/labelling.h"

namespace weft::search {

Price priceOf(const Labelling &problem, const std::vector<int> &labels) {
  Price price;
  for (size_t v = 0; v < labels.size(); ++v) {
    price = price + problem.own[v][labels[v]];
  }
  for (const Link &link : problem.links) {
    const int first = link.firstClass[labels[link.first]], second = link.secondClass[labels[link.second]];
    price = price + link.price[first * link.secondClasses + second];
  }
  return price;
}

} // namespace weft::search
