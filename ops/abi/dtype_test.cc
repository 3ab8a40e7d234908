#include "ops/abi/dtype.h"

#include <bit>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace weft {
namespace {

constexpr uint32_t kHalves = 1u << 16;

// By the definition of binary16: (-1)^s 2^(e - 15) 1.m, or (-1)^s 2^-14 0.m where e is 0.
double ValueOf(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 0x1f) return mantissa == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

TEST(Float16Test, WidensExactly) {
  for (uint32_t bits = 0; bits < kHalves; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const double want = ValueOf(half.bits), got = ToFloat(half);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(got, want) << bits;
    }
    ASSERT_EQ(std::signbit(got), bits >= 0x8000u) << bits;
  }
}

TEST(Float16Test, NarrowsWhatItWidened) {
  for (uint32_t bits = 0; bits < kHalves; ++bits) {
    const uint16_t again = ToFloat16(ToFloat(Float16{static_cast<uint16_t>(bits)})).bits;
    const bool nan = (bits & 0x7fffu) > 0x7c00u;
    ASSERT_EQ(again, nan ? bits | 0x200u : bits);  // quiet
  }
}

// Between two neighbours: below their middle the lower one, above it the upper one, in the middle the even one.
TEST(Float16Test, RoundsToNearestEven) {
  for (uint16_t low = 0; low < 0x7c00; ++low) {
    const uint16_t high = low + 1;
    // As if the largest number had a neighbour at the same distance: IEEE 754, section 4.3.1.
    const double above = high == 0x7c00 ? 65536.0 : ValueOf(high);
    const float middle = static_cast<float>((ValueOf(low) + above) / 2);  // exact
    const float infinity = std::numeric_limits<float>::infinity();
    for (uint16_t sign : {0, 0x8000}) {
      const auto narrow = [&](float x) { return ToFloat16(sign ? -x : x).bits ^ sign; };
      ASSERT_EQ(narrow(std::nextafter(middle, 0.0f)), low);
      ASSERT_EQ(narrow(middle), low % 2 == 0 ? low : high);
      ASSERT_EQ(narrow(std::nextafter(middle, infinity)), high);
    }
  }
}

TEST(Float16Test, EndsOfTheRange) {
  EXPECT_EQ(ToFloat16(std::numeric_limits<float>::denorm_min()).bits, 0);
  EXPECT_EQ(ToFloat16(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(ToFloat16(-std::numeric_limits<float>::infinity()).bits, 0xfc00);
  EXPECT_EQ(ToFloat16(-0.0f).bits, 0x8000);
  // Whatever its payload, a NaN stays one.
  EXPECT_GT(ToFloat16(std::bit_cast<float>(0x7f800001u)).bits, 0x7c00);
  EXPECT_GT(ToFloat16(std::bit_cast<float>(0xffffffffu)).bits, 0xfc00);
}

}  // namespace
}  // namespace weft
