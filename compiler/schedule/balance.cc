#include "compiler/schedule/balance.h"

#include <algorithm>
#include <limits>

namespace weft::schedule {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// By how many parts and how many of the first weights: the least that these parts can cost together, and where the
// last of them begins then. `cost` is that of a part, `join` makes the cost of several of two.
struct Table {
  std::vector<std::vector<double>> best;
  std::vector<std::vector<size_t>> from;
};

template <typename Cost, typename Join> Table fill(size_t n, size_t parts, Cost cost, Join join) {
  Table table{{parts + 1, std::vector<double>(n + 1, kNone)}, {parts + 1, std::vector<size_t>(n + 1, 0)}};
  table.best[0][0] = 0;
  for (size_t k = 1; k <= parts; ++k) {
    for (size_t end = k; end <= n; ++end) {
      for (size_t begin = k - 1; begin < end; ++begin) {
        double load = join(table.best[k - 1][begin], cost(begin, end));
        if (begin == k - 1 || load < table.best[k][end]) {
          table.best[k][end] = load;
          table.from[k][end] = begin;
        }
      }
    }
  }
  return table;
}

} // namespace

std::vector<size_t> balance(const std::vector<double> &weights, size_t parts) {
  size_t n = weights.size();
  std::vector<double> before(n + 1, 0); // sums
  for (size_t i = 0; i < n; ++i) {
    before[i + 1] = before[i] + weights[i];
  }
  auto weight = [&](size_t begin, size_t end) { return before[end] - before[begin]; };
  double most = fill(n, parts, weight, [](double a, double b) { return std::max(a, b); }).best[parts][n];
  auto square = [&](size_t begin, size_t end) {
    double sum = weight(begin, end);
    return sum > most ? kNone : sum * sum;
  };
  Table even = fill(n, parts, square, [](double a, double b) { return a + b; });
  std::vector<size_t> begins(parts);
  for (size_t k = parts, end = n; k > 0; --k) {
    end = begins[k - 1] = even.from[k][end];
  }
  return begins;
}

} // namespace weft::schedule
