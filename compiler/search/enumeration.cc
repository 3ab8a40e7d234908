#include "compiler/search/enumeration.h"

namespace weft::search {
namespace {

// Gives variable `v` and those after it all their labels.
void enumerateFrom(const Labelling &problem, std::vector<int> &labels, int v, int64_t seconds, int64_t bytes,
                   std::vector<Price> &all) {
  if (v == int(problem.own.size())) {
    all.push_back({seconds, bytes});
    return;
  }
  for (int label = 0; label < int(problem.own[v].size()); ++label) {
    if (problem.own[v][label].seconds >= kNever) {
      continue;
    }
    labels[v] = label;
    int64_t moreSeconds = problem.own[v][label].seconds;
    int64_t moreBytes = problem.own[v][label].bytes;
    bool may = true;
    for (const Link &link : problem.links) {
      const int later = link.first > link.second ? link.first : link.second;
      if (later != v) {
        continue; // it was counted, or will be
      }
      const int row = link.firstClass[labels[link.first]];
      const int column = link.secondClass[labels[link.second]];
      const Price price = link.price[row * link.secondClasses + column];
      if (price.seconds >= kNever) {
        may = false;
        break;
      }
      moreSeconds += price.seconds;
      moreBytes += price.bytes;
    }
    if (may) {
      enumerateFrom(problem, labels, v + 1, seconds + moreSeconds, bytes + moreBytes, all);
    }
  }
}

} // namespace

std::vector<Price> enumerate(const Labelling &problem) {
  std::vector<Price> all;
  std::vector<int> labels(problem.own.size(), 0);
  enumerateFrom(problem, labels, 0, 0, 0, all);
  return all;
}

Price fastestOf(const std::vector<Price> &all, int64_t limit) {
  Price best = kImpossible;
  for (const Price price : all) {
    if (price.bytes <= limit && price.seconds < best.seconds) {
      best = price;
    }
  }
  return best;
}

int64_t fewestBytesOf(const std::vector<Price> &all) {
  int64_t fewest = kNever;
  for (const Price price : all) {
    if (price.bytes < fewest) {
      fewest = price.bytes;
    }
  }
  return fewest;
}

} // namespace weft::search
