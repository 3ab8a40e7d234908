// The elements of a tile.
#ifndef WEFT_TESTS_SUPPORT_ELEMENTS_H_
#define WEFT_TESTS_SUPPORT_ELEMENTS_H_

#include <cstdint>
#include <vector>

#include "ops/abi/tensor_spec.h"

namespace weft::tests {

// Calls visit(index in the whole tensor, index in the tile) for every element of a tile, both row-major, and
// beyond(index in the tile) for every element of its padding.
template <typename Visit, typename Beyond>
void ForEachElement(const TensorSpec& spec, Visit&& visit, Beyond&& beyond) {
  std::vector<int64_t> at(spec.dims.size(), 0);
  for (int64_t local = 0; local < spec.elements(); ++local) {
    int64_t global = 0;
    bool inside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      inside &= spec.origin[d] + at[d] < spec.global_dims[d];
      global = global * spec.global_dims[d] + spec.origin[d] + at[d];
    }
    inside ? visit(global, local) : beyond(local);
    for (int d = static_cast<int>(at.size()) - 1; d >= 0 && ++at[d] == spec.dims[d]; --d) at[d] = 0;
  }
}

template <typename Visit>
void ForEachElement(const TensorSpec& spec, Visit&& visit) {
  ForEachElement(spec, visit, [](int64_t) {});
}

}  // namespace weft::tests

#endif  // WEFT_TESTS_SUPPORT_ELEMENTS_H_
