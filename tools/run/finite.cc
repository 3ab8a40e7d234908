#include "tools/run/finite.h"

#include <algorithm>

namespace weft::run {
namespace {

// Elements whose bits are combined before anybody looks: a loop without a way
// out, which the compiler makes vectors of.
constexpr int64_t kBlock = 1024;

// IEEE 754: a number that is not finite has every bit of its exponent set.
template <typename Bits>
int64_t Find(const void* elements, int64_t count, Bits exponent) {
  const Bits* bits = static_cast<const Bits*>(elements);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(count, begin + kBlock);
    int found = 0;
    for (int64_t i = begin; i < end; ++i) found |= (bits[i] & exponent) == exponent ? 1 : 0;
    if (found == 0) continue;
    return std::find_if(bits + begin, bits + end, [&](Bits b) { return (b & exponent) == exponent; }) - bits;
  }
  return -1;
}

}  // namespace

int64_t FindNonFinite(DType dtype, const void* elements, int64_t count) {
  switch (dtype) {
    case DType::kF32:
      return Find<uint32_t>(elements, count, 0x7f800000u);
    case DType::kBF16:
      return Find<uint16_t>(elements, count, 0x7f80u);
    case DType::kF16:
      return Find<uint16_t>(elements, count, 0x7c00u);
    case DType::kF64:
      return Find<uint64_t>(elements, count, 0x7ff0000000000000u);
    case DType::kI32:
    case DType::kI64:
    case DType::kU8:
    case DType::kInvalid:
      break;
  }
  return -1;
}

}  // namespace weft::run
