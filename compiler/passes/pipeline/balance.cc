#include "compiler/passes/pipeline/balance.h"

#include <limits>
#include <vector>

namespace weft::compiler {
namespace {

// The heaviest part of a cut and the sum of the squares of its parts.
struct Load {
  double most = std::numeric_limits<double>::infinity(), squares = 0;
  bool operator<(const Load &other) const { return most != other.most ? most < other.most : squares < other.squares; }
};

} // namespace

llvm::SmallVector<size_t> balance(llvm::ArrayRef<double> weights, size_t parts) {
  size_t n = weights.size();
  std::vector<double> before(n + 1, 0); // sums
  for (size_t i = 0; i < n; ++i) {
    before[i + 1] = before[i] + weights[i];
  }
  // best[k][end]: of the first `end` weights cut into k parts; from[k][end]: where the last of them begins.
  std::vector<std::vector<Load>> best(parts + 1, std::vector<Load>(n + 1));
  std::vector<std::vector<size_t>> from(parts + 1, std::vector<size_t>(n + 1, 0));
  best[0][0] = {0, 0};
  for (size_t k = 1; k <= parts; ++k) {
    for (size_t end = k; end <= n; ++end) {
      for (size_t begin = k - 1; begin < end; ++begin) {
        double weight = before[end] - before[begin];
        Load load = {std::max(best[k - 1][begin].most, weight), best[k - 1][begin].squares + weight * weight};
        if (load < best[k][end]) {
          best[k][end] = load;
          from[k][end] = begin;
        }
      }
    }
  }
  llvm::SmallVector<size_t> begins(parts);
  for (size_t k = parts, end = n; k > 0; --k) {
    end = begins[k - 1] = from[k][end];
  }
  return begins;
}

} // namespace weft::compiler
