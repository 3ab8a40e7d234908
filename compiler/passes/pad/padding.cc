#include "compiler/passes/pad/padding.h"

#include <numeric>

#include "llvm/Support/MathExtras.h"

namespace weft::compiler {

void Padding::demand(int group, int64_t extent, int64_t parts) {
  if (parts > 1) {
    demands_.push_back({group, extent, parts});
  }
}

void Padding::decide() {
  llvm::DenseMap<int, int64_t> multiples;
  llvm::DenseSet<int> uneven;
  for (const Demand &demand : demands_) {
    const int64_t elements = demand.extent / dimensions_.unitsOf(demand.group); // of a unit
    const int64_t needed = demand.parts / std::gcd(demand.parts, elements);
    auto it = multiples.try_emplace(demand.group, 1).first;
    it->second = std::lcm(it->second, needed);
    if (demand.extent % demand.parts != 0) {
      uneven.insert(demand.group);
    }
  }
  for (int group : uneven) {
    units_[group] = int64_t(llvm::alignTo(uint64_t(dimensions_.unitsOf(group)), uint64_t(multiples[group])));
  }
}

llvm::SmallVector<int64_t> Padding::larger(mlir::Value original, llvm::ArrayRef<int64_t> shape) const {
  llvm::SmallVector<int64_t> grown(shape);
  for (auto [dim, extent] : llvm::enumerate(grown)) {
    int group = dimensions_.groupOf(original, int64_t(dim));
    if (auto it = units_.find(group); it != units_.end()) {
      extent = extent / dimensions_.unitsOf(group) * it->second;
    }
  }
  return grown;
}

} // namespace weft::compiler
