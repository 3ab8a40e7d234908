// How casts convert numbers, on all devices.
#ifndef WEFT_OPS_ELEMENTWISE_CONVERT_H_
#define WEFT_OPS_ELEMENTWISE_CONVERT_H_

#include <cstdint>
#include <limits>

namespace weft::elementwise {

// What is behind the point is cut off; beyond the range of To it is its smallest or largest number, and NaN is 0.
template <typename To>
constexpr To ToInteger(float x) {
  // Powers of two, hence exact: the largest To itself is not a float.
  constexpr float kEnd = sizeof(To) == 1 ? 0x1.0p8f : sizeof(To) == 4 ? 0x1.0p31f : 0x1.0p63f;
  constexpr float kBegin = sizeof(To) == 1 ? 0.0f : -kEnd;
  const bool inside = x > kBegin && x < kEnd;
  const To value = static_cast<To>(inside ? x : 0.0f);
  const To most = x >= kEnd ? std::numeric_limits<To>::max() : value;
  return x <= kBegin ? std::numeric_limits<To>::min() : most;
}

}  // namespace weft::elementwise

#endif  // WEFT_OPS_ELEMENTWISE_CONVERT_H_
