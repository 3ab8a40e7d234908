// Elementary functions that a compiler can vectorise: branch-free float code
// on plain operators and selects, because libm's expf and friends stay scalar
// calls under clang. Call them in simple loops compiled with -O3 and at least
// -march=x86-64-v3 (KERNEL_COPTS).
//
// Errors are bounds over the floats against double libm, tested in
// vector_math_test.cc, in units in the last place of the correctly rounded
// result (of the smallest normal number for subnormal results); NaN gives NaN.
// Coefficients: coefficients.py (Remez and rational least squares), run by us.
// Pure functions, callable from any thread.
#ifndef WEFT_OPS_MATH_VECTOR_MATH_H_
#define WEFT_OPS_MATH_VECTOR_MATH_H_

#include <cstdint>

// A unit may be compiled for a newer CPU than its neighbours; an inline
// function left out of line there could be picked by the linker for all.
#define WEFT_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace weft {

namespace math_internal {

// x = n log(2) + r with |r| <= log(2) / 2 and `n` an integer.
struct Reduced {
  int32_t n;
  float r;
};

// For |x| < 2^22 (callers clamp). Adding 1.5 * 2^23 rounds to an integer in the
// low bits of the sum (a float-to-int conversion of NaN would be undefined);
// log(2) is subtracted in two parts, the first exact for |n| < 2^15 (Cody and
// Waite, "Software manual for the elementary functions", 1980).
WEFT_ALWAYS_INLINE Reduced Reduce(float x) {
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 1.44269504f + kRound;
  const uint32_t n = __builtin_bit_cast(uint32_t, shifted) - __builtin_bit_cast(uint32_t, kRound);
  const float whole = shifted - kRound;
  return {static_cast<int32_t>(n), (x - whole * 0.693359375f) + whole * 2.12194440e-4f};
}

// exp(r) - 1 on the reduced range: r + r^2 P(r), relative error 3.1e-9 before rounding.
WEFT_ALWAYS_INLINE float ExpMinusOneReduced(float r) {
  float p = 0.00138146128f;
  p = p * r + 0.00836871006f;
  p = p * r + 0.041668389f;
  p = p * r + 0.166665211f;
  p = p * r + 0.49999994f;
  return (r * r) * p + r;
}

// 2^n for -126 <= n <= 127.
WEFT_ALWAYS_INLINE float PowerOfTwo(int32_t n) {
  return __builtin_bit_cast(float, (static_cast<uint32_t>(n) + 127u) << 23);
}

// x = n pi / 2 + r with |r| <= pi / 4 (but for the rounding of n) and `n` an integer, for |x| <= kLargestAngle. pi / 2
// is taken away in three parts by fused multiply-adds: the first is exact, as x and n times a float near pi / 2 are
// multiples of 2^-23 whose difference is below 1; so r is right to two roundings of itself, close to zeros too.
WEFT_ALWAYS_INLINE Reduced ReduceAngle(float x) {
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 0.636619772f + kRound;
  const uint32_t n = __builtin_bit_cast(uint32_t, shifted) - __builtin_bit_cast(uint32_t, kRound);
  const float whole = shifted - kRound;
  float r = __builtin_fmaf(whole, -1.57079637f, x);
  r = __builtin_fmaf(whole, 4.37113883e-08f, r);
  return {static_cast<int32_t>(n), __builtin_fmaf(whole, 1.71512451e-15f, r)};
}

// The sine of r + n pi / 2, |r| <= pi / 4.
WEFT_ALWAYS_INLINE float SineOfReduced(float r, int32_t n) {
  const float t = r * r;
  float p = -0.000195152825f;
  p = p * t + 0.0083321603f;
  p = p * t - 0.166666552f;
  const float sine = (r * t) * p + r;
  float q = 2.44331568e-05f;
  q = q * t - 0.00138873165f;
  q = q * t + 0.0416666456f;
  const float cosine = (t * t) * q + (1.0f - 0.5f * t);
  const float value = (n & 1) != 0 ? cosine : sine;
  return (n & 2) != 0 ? -value : value;
}

}  // namespace math_internal

// e^x within 1.5 ulp; 0 from about -104 down, infinity from 88.73 up. The power of two is
// applied in two halves so that subnormal results come out right.
WEFT_ALWAYS_INLINE float Exp(float x) {
  x = x > 89.0f ? 89.0f : x;
  x = x < -104.0f ? -104.0f : x;
  const math_internal::Reduced reduced = math_internal::Reduce(x);
  const int32_t half = reduced.n >> 1;
  const float value = 1.0f + math_internal::ExpMinusOneReduced(reduced.r);
  return value * math_internal::PowerOfTwo(half) * math_internal::PowerOfTwo(reduced.n - half);
}

// Likewise, but 0 below -87, where the value is subnormal or nearly so: a processor takes a hundred times as long to
// make such a number. For weights beside one of 1, which it would not change; of what is hidden, -infinity, the weight
// is 0.
WEFT_ALWAYS_INLINE float ExpOrZero(float x) {
  const float value = Exp(x < -87.0f ? -87.0f : x);
  return x < -87.0f ? 0.0f : value;
}

// 1 / (1 + e^-x) within 3 ulp; 0 below -88.73, where the value is subnormal.
WEFT_ALWAYS_INLINE float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }

// tanh(x) within 3 ulp: with e = exp(2|x|) - 1, tanh|x| = e / (e + 2).
WEFT_ALWAYS_INLINE float Tanh(float x) {
  const float magnitude = __builtin_fabsf(x);
  const float clamped = magnitude > 10.0f ? 10.0f : magnitude;
  const math_internal::Reduced reduced = math_internal::Reduce(2.0f * clamped);
  const float power = math_internal::PowerOfTwo(reduced.n);
  const float e = power * math_internal::ExpMinusOneReduced(reduced.r) + (power - 1.0f);
  return __builtin_copysignf(e / (e + 2.0f), x);
}

// erf(x) within 6.5 ulp: x P(x^2) / Q(x^2) up to 3.92, from where it rounds to 1.
// Every coefficient is positive, so nothing cancels.
WEFT_ALWAYS_INLINE float Erf(float x) {
  float clamped = x > 3.92f ? 3.92f : x;
  clamped = clamped < -3.92f ? -3.92f : clamped;
  const float t = clamped * clamped;
  float p = 2.04567505e-06f;
  p = p * t + 0.000284423761f;
  p = p * t + 0.00376091083f;
  p = p * t + 0.052731853f;
  p = p * t + 0.19034338f;
  p = p * t + 1.12837911f;
  float q = 3.80226484e-05f;
  q = q * t + 0.00116076402f;
  q = q * t + 0.0149596492f;
  q = q * t + 0.114075378f;
  q = q * t + 0.50202024f;
  q = q * t + 1.0f;
  float value = clamped * p / q;
  value = value > 1.0f ? 1.0f : value;
  return value < -1.0f ? -1.0f : value;
}

// Natural logarithm within 2 ulp; log(0) = -infinity, NaN below 0. With x = 2^n (1 + f),
// sqrt(1/2) <= 1 + f < sqrt(2): n log(2) + f - f^2/2 + f^3 P(f).
WEFT_ALWAYS_INLINE float Log(float x) {
  constexpr float kInfinity = __builtin_inff();
  constexpr uint32_t kSqrtHalf = 0x3f3504f3u;
  const bool subnormal = x < 0x1.0p-126f;
  const float scaled = subnormal ? x * 0x1.0p23f : x;
  const uint32_t bits = __builtin_bit_cast(uint32_t, scaled) - kSqrtHalf;
  const float n = static_cast<float>(static_cast<int32_t>(bits) >> 23) - (subnormal ? 23.0f : 0.0f);
  const float f = __builtin_bit_cast(float, (bits & 0x007fffffu) + kSqrtHalf) - 1.0f;
  float p = 0.0674665123f;
  p = p * f - 0.116756544f;
  p = p * f + 0.118881591f;
  p = p * f - 0.124055885f;
  p = p * f + 0.142195523f;
  p = p * f - 0.166679963f;
  p = p * f + 0.200021192f;
  p = p * f - 0.250000089f;
  p = p * f + 0.333333135f;
  const float square = f * f;
  float value = square * f * p - 2.12194440e-4f * n;
  value = (value - 0.5f * square) + f + n * 0.693359375f;
  value = x == kInfinity ? kInfinity : value;
  const float outside = x == 0.0f ? -kInfinity : __builtin_nanf("");
  return x > 0.0f ? value : outside;
}

// The sine and the cosine of x radians, |x| <= kLargestAngle, within 2 ulp; NaN for infinity. Beyond that the
// reduction loses bits: callers take another function.
inline constexpr float kLargestAngle = 1e6f;
WEFT_ALWAYS_INLINE float Sin(float x) {
  const math_internal::Reduced reduced = math_internal::ReduceAngle(x);
  return math_internal::SineOfReduced(reduced.r, reduced.n);
}
WEFT_ALWAYS_INLINE float Cos(float x) {
  const math_internal::Reduced reduced = math_internal::ReduceAngle(x);
  return math_internal::SineOfReduced(reduced.r, reduced.n + 1);
}

}  // namespace weft

#endif  // WEFT_OPS_MATH_VECTOR_MATH_H_
