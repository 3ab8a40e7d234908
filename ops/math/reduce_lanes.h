// Reductions along a row that compilers vectorise: the order of the sum is the
// compiler's, the same in every run of one build, and close to pairwise.
// Pure functions, callable from any thread.
#ifndef WEFT_OPS_MATH_REDUCE_LANES_H_
#define WEFT_OPS_MATH_REDUCE_LANES_H_

#include <cstdint>

#include "ops/math/vector_math.h"

namespace weft {

// The sum of term(i) for 0 <= i < n; `term` returns a float and is itself evaluated strictly.
template <typename Term>
WEFT_ALWAYS_INLINE float SumLanes(int64_t n, const Term& term) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += term(i);
  return sum;
}

// The largest of x[0, n); -infinity for none. NaN is passed over.
WEFT_ALWAYS_INLINE float LargestOf(const float* x, int64_t n) {
  constexpr int64_t kLanes = 16;
  float lanes[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = -__builtin_inff();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
  }
  for (int64_t lane = 0; i + lane < n; ++lane) lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
  float largest = lanes[0];
  for (int64_t lane = 1; lane < kLanes; ++lane) largest = lanes[lane] > largest ? lanes[lane] : largest;
  return largest;
}

}  // namespace weft

#endif  // WEFT_OPS_MATH_REDUCE_LANES_H_
