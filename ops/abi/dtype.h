// Element types that tensors of a plan and kernels may have.
#ifndef WEFT_OPS_ABI_DTYPE_H_
#define WEFT_OPS_ABI_DTYPE_H_

#include <cstddef>
#include <cstdint>

namespace weft {

// The values equal those of weft.plan.DType (runtime/plan/plan.proto); a test
// of runtime/executor compares them.
enum class DType : int { kInvalid = 0, kF32 = 1, kBF16 = 2, kF16 = 3, kI32 = 4, kI64 = 5, kF64 = 6, kU8 = 7 };

// Bytes an element takes; 0 for kInvalid.
constexpr size_t SizeOf(DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kBF16:
    case DType::kF16:
      return 2;
    case DType::kI64:
    case DType::kF64:
      return 8;
    case DType::kU8:
      return 1;
    case DType::kInvalid:
      return 0;
  }
  return 0;
}

// "f32", "bf16", ...; "invalid" for kInvalid.
constexpr const char* NameOf(DType type) {
  switch (type) {
    case DType::kF32:
      return "f32";
    case DType::kBF16:
      return "bf16";
    case DType::kF16:
      return "f16";
    case DType::kI32:
      return "i32";
    case DType::kI64:
      return "i64";
    case DType::kF64:
      return "f64";
    case DType::kU8:
      return "u8";
    case DType::kInvalid:
      return "invalid";
  }
  return "invalid";
}

// bfloat16: the upper half of a float32, rounded to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
};

inline float ToFloat(BFloat16 value) {
  union {
    uint32_t u;
    float f;
  } x = {static_cast<uint32_t>(value.bits) << 16};
  return x.f;
}

inline BFloat16 ToBFloat16(float value) {
  union {
    float f;
    uint32_t u;
  } x = {value};
  if ((x.u & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((x.u >> 16) | 0x40u)};  // quiet NaN
  return {static_cast<uint16_t>((x.u + 0x7fffu + ((x.u >> 16) & 1u)) >> 16)};
}

// IEEE 754 binary16: 5 bits of exponent, 10 of mantissa, subnormals; up to 65504.
struct Float16 {
  uint16_t bits = 0;
};

// Exact. Selects instead of branches, so that loops of it become vectors; so below.
inline float ToFloat(Float16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16, magnitude = value.bits & 0x7fffu;
  union {
    float f;
    uint32_t u;
  } x = {static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1.0p-24f};  // zero and subnormals
  const uint32_t normal = (magnitude << 13) + 0x38000000u;                   // bias 15 to bias 127
  const uint32_t special = magnitude << 13 | 0x7f800000u | (magnitude > 0x7c00u ? 0x400000u : 0u);  // quiet NaN
  x.u = magnitude < 0x400u ? x.u : magnitude < 0x7c00u ? normal : special;
  x.u |= sign;
  return x.f;
}

// Rounded to nearest even; infinite from 65520 on.
inline Float16 ToFloat16(float value) {
  union Bits {
    float f;
    uint32_t u;
  };
  Bits x = {value};
  const uint32_t sign = x.u >> 16 & 0x8000u;
  x.u &= 0x7fffffffu;
  // The unit of 0.5 is the smallest subnormal: the sum rounds to it.
  Bits small = {x.f + 0.5f};
  const uint32_t subnormal = small.u - 0x3f000000u;
  const uint32_t normal = (x.u - 0x38000000u + 0xfffu + (x.u >> 13 & 1u)) >> 13;
  const uint32_t special = x.u > 0x7f800000u ? 0x7e00u | (x.u >> 13 & 0x3ffu) : 0x7c00u;
  const uint32_t magnitude = x.u < 0x38800000u ? subnormal : x.u < 0x47800000u ? normal : special;
  return {static_cast<uint16_t>(sign | magnitude)};
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_DTYPE_H_
