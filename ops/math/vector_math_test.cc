#include "ops/math/vector_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace weft {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The distance of neighbouring floats at `value`, of the smallest normals below those.
double Ulp(double value) {
  const double magnitude = std::max(std::fabs(value), static_cast<double>(std::numeric_limits<float>::min()));
  return std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

// The largest error of `function` in ulp over every `stride`th float of both
// signs that lies in [low, high]. Evaluated in blocks, as kernels do, so that
// what is tested is the vectorised code.
template <typename Function, typename Reference>
double LargestError(Function function, Reference reference, float low, float high, uint32_t stride = 997) {
  constexpr int kBlock = 64;
  double largest = 0;
  float x[kBlock], y[kBlock];
  int filled = 0;
  auto flush = [&] {
    for (int i = 0; i < kBlock; ++i) y[i] = function(x[i]);
    for (int i = 0; i < filled; ++i) {
      const double want = reference(static_cast<double>(x[i]));
      if (std::fabs(want) > std::numeric_limits<float>::max()) {
        if (y[i] != static_cast<float>(want)) largest = kInfinity;
        continue;
      }
      const double error = std::fabs(y[i] - want) / Ulp(want);
      if (!(error <= largest)) largest = error;
    }
    filled = 0;
  };
  for (uint64_t bits = 0; bits < 0xffffffffull; bits += stride) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (!(value >= low && value <= high)) continue;
    x[filled++] = value;
    if (filled == kBlock) flush();
  }
  for (int i = filled; i < kBlock; ++i) x[i] = 0;
  flush();
  return largest;
}

double ReferenceExp(double x) { return std::exp(x); }
double ReferenceSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(VectorMathTest, Exp) {
  auto exp = [](float x) { return Exp(x); };
  EXPECT_LE(LargestError(exp, ReferenceExp, -kInfinity, 88.7228f), 1.5);
  EXPECT_EQ(Exp(-kInfinity), 0.0f);
  EXPECT_EQ(Exp(-200.0f), 0.0f);
  EXPECT_EQ(Exp(0.0f), 1.0f);
  EXPECT_EQ(Exp(kInfinity), kInfinity);
  EXPECT_EQ(Exp(88.73f), kInfinity);
  EXPECT_EQ(Exp(std::numeric_limits<float>::max()), kInfinity);
  EXPECT_NEAR(Exp(-100.0f), std::exp(-100.0), 1.5e-45);  // subnormal, not flushed
  EXPECT_TRUE(std::isnan(Exp(kNan)));
}

TEST(VectorMathTest, ExpOrZero) {
  auto exp = [](float x) { return ExpOrZero(x); };
  EXPECT_LE(LargestError(exp, ReferenceExp, -87.0f, 88.7228f), 1.5);
  for (float x : {-kInfinity, -200.0f, -103.0f, -87.5f}) EXPECT_EQ(ExpOrZero(x), 0.0f) << x;
  EXPECT_GE(ExpOrZero(-87.0f), std::numeric_limits<float>::min());
  EXPECT_EQ(ExpOrZero(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(ExpOrZero(kNan)));
}

TEST(VectorMathTest, Sigmoid) {
  EXPECT_LE(LargestError([](float x) { return Sigmoid(x); }, ReferenceSigmoid, -87.0f, kInfinity), 3.0);
  EXPECT_EQ(Sigmoid(-kInfinity), 0.0f);
  EXPECT_EQ(Sigmoid(kInfinity), 1.0f);
  EXPECT_EQ(Sigmoid(0.0f), 0.5f);
  EXPECT_TRUE(std::isnan(Sigmoid(kNan)));
}

TEST(VectorMathTest, Tanh) {
  EXPECT_LE(LargestError([](float x) { return Tanh(x); }, [](double x) { return std::tanh(x); }, -kInfinity, kInfinity),
            3.0);
  EXPECT_EQ(Tanh(kInfinity), 1.0f);
  EXPECT_EQ(Tanh(-kInfinity), -1.0f);
  EXPECT_EQ(Tanh(0.0f), 0.0f);
  EXPECT_TRUE(std::signbit(Tanh(-0.0f)));
  EXPECT_TRUE(std::isnan(Tanh(kNan)));
}

TEST(VectorMathTest, Erf) {
  EXPECT_LE(LargestError([](float x) { return Erf(x); }, [](double x) { return std::erf(x); }, -kInfinity, kInfinity),
            6.5);
  EXPECT_EQ(Erf(kInfinity), 1.0f);
  EXPECT_EQ(Erf(-kInfinity), -1.0f);
  EXPECT_EQ(Erf(4.0f), 1.0f);
  EXPECT_EQ(Erf(0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(Erf(kNan)));
}

TEST(VectorMathTest, Log) {
  auto log = [](float x) { return Log(x); };
  EXPECT_LE(LargestError(
                log, [](double x) { return std::log(x); }, std::numeric_limits<float>::denorm_min(),
                std::numeric_limits<float>::max()),
            2.0);
  EXPECT_LE(LargestError(log, [](double x) { return std::log(x); }, 0.5f, 2.0f, 31), 2.0);
  EXPECT_EQ(Log(1.0f), 0.0f);
  EXPECT_EQ(Log(0.0f), -kInfinity);
  EXPECT_EQ(Log(-0.0f), -kInfinity);
  EXPECT_EQ(Log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(Log(-1.0f)));
  EXPECT_TRUE(std::isnan(Log(-kInfinity)));
  EXPECT_TRUE(std::isnan(Log(kNan)));
}

double ReferenceSin(double x) { return std::sin(x); }
double ReferenceCos(double x) { return std::cos(x); }

TEST(VectorMathTest, SinAndCos) {
  auto sin = [](float x) { return Sin(x); };
  auto cos = [](float x) { return Cos(x); };
  EXPECT_LE(LargestError(sin, ReferenceSin, -kLargestAngle, kLargestAngle), 2.0);
  EXPECT_LE(LargestError(cos, ReferenceCos, -kLargestAngle, kLargestAngle), 2.0);
  EXPECT_LE(LargestError(sin, ReferenceSin, 1e3f, 1e5f, 7), 2.0);
  EXPECT_LE(LargestError(cos, ReferenceCos, 1e3f, 1e5f, 7), 2.0);
  EXPECT_EQ(Sin(0.0f), 0.0f);
  EXPECT_EQ(Sin(-0.0f), 0.0f);  // of either sign
  EXPECT_EQ(Cos(0.0f), 1.0f);
  for (float x : {kInfinity, -kInfinity, kNan}) {
    EXPECT_TRUE(std::isnan(Sin(x)));
    EXPECT_TRUE(std::isnan(Cos(x)));
  }
}

// The floats next to multiples of pi / 2, where sine or cosine are all but 0: an error of the angle would be all of
// them.
TEST(VectorMathTest, SinAndCosNextToTheirZeros) {
  double worst = 0;
  for (int n = -63662; n <= 63662; ++n) {
    const auto near = static_cast<float>(n * M_PI_2);
    for (float x : {std::nextafter(near, -kInfinity), near, std::nextafter(near, kInfinity)}) {
      worst = std::max(worst, std::fabs(Sin(x) - ReferenceSin(x)) / Ulp(ReferenceSin(x)));
      worst = std::max(worst, std::fabs(Cos(x) - ReferenceCos(x)) / Ulp(ReferenceCos(x)));
    }
  }
  EXPECT_LE(worst, 2.0);
}

}  // namespace
}  // namespace weft
