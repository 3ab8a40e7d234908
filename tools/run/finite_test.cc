#include "tools/run/finite.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace weft::run {
namespace {

// A place within the first block and one in the last, which is not whole.
constexpr int64_t kCount = 2500;

template <typename T>
void Expect(DType dtype, T largest, const std::vector<T>& wrong) {
  std::vector<T> elements(kCount, largest);
  EXPECT_EQ(FindNonFinite(dtype, elements.data(), kCount), -1) << NameOf(dtype);
  for (T value : wrong) {
    for (int64_t at : {int64_t{7}, kCount - 1}) {
      elements[at] = value;
      EXPECT_EQ(FindNonFinite(dtype, elements.data(), kCount), at) << NameOf(dtype);
      EXPECT_EQ(FindNonFinite(dtype, elements.data(), at), -1) << NameOf(dtype);
      elements[at] = largest;
    }
  }
}

TEST(FiniteTest, FindsInfinitiesAndNans) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Expect<float>(DType::kF32, std::numeric_limits<float>::max(), {kInf, -kInf, std::nanf("")});
  Expect<double>(DType::kF64, std::numeric_limits<double>::max(), {kInf, -kInf, std::nan("")});
  Expect<uint16_t>(DType::kBF16, 0x7f7f, {0x7f80, 0xff80, 0x7fc0});
  Expect<uint16_t>(DType::kF16, 0x7bff, {0x7c00, 0xfc00, 0x7e00});
}

TEST(FiniteTest, EveryIntegerIsFinite) {
  const std::vector<int32_t> ones(kCount, -1);
  EXPECT_EQ(FindNonFinite(DType::kI32, ones.data(), kCount), -1);
}

}  // namespace
}  // namespace weft::run
