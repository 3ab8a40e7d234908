// Element types that tensors of a plan and kernels may have: one table, for the compiler, the plan, kernels and files.
//
// A new type is a C++ type and a row here, a value of DType in runtime/plan/plan.proto, and the kernels that take it. A
// switch over DType has no default: one that has to know the type does not compile before it does.
#ifndef WEFT_OPS_ABI_DTYPE_H_
#define WEFT_OPS_ABI_DTYPE_H_

#include <cstddef>
#include <cstdint>

namespace weft {

// bfloat16: the upper half of a float32, rounded to nearest even.
struct BFloat16 {
  uint16_t bits = 0;
};

// IEEE 754 binary16: 5 bits of exponent, 10 of mantissa, subnormals; up to 65504.
struct Float16 {
  uint16_t bits = 0;
};

// Row: the name of the value here and in plan.proto, the C++ type of an element, whether it is a floating-point one,
// and the name for people, in MLIR, and in safetensors files. In the order of the values, from 1.
#define WEFT_ELEMENT_TYPES(ROW)                     \
  ROW(F32, float, true, "f32", "f32", "F32")        \
  ROW(BF16, BFloat16, true, "bf16", "bf16", "BF16") \
  ROW(F16, Float16, true, "f16", "f16", "F16")      \
  ROW(I32, int32_t, false, "i32", "i32", "I32")     \
  ROW(I64, int64_t, false, "i64", "i64", "I64")     \
  ROW(F64, double, true, "f64", "f64", "F64")       \
  ROW(U8, uint8_t, false, "u8", "i8", "U8")

// The values equal those of weft.plan.DType: runtime/plan/enums.h compares them.
enum class DType : int {
  kInvalid,
#define WEFT_ROW(name, ...) k##name,
  WEFT_ELEMENT_TYPES(WEFT_ROW)
#undef WEFT_ROW
};

struct ElementType {
  DType type;
  size_t bytes;
  bool is_float;
  const char *name, *mlir, *safetensors;
};

inline constexpr ElementType kElementTypes[] = {
#define WEFT_ROW(name, cpp, is_float, text, mlir, safetensors) \
  {DType::k##name, sizeof(cpp), is_float, text, mlir, safetensors},
    WEFT_ELEMENT_TYPES(WEFT_ROW)
#undef WEFT_ROW
};

// The row of a type, nullptr for kInvalid and for what is none.
constexpr const ElementType* RowOf(DType type) {
  for (const ElementType& row : kElementTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// Bytes an element takes; 0 for kInvalid.
constexpr size_t SizeOf(DType type) { return RowOf(type) != nullptr ? RowOf(type)->bytes : 0; }

// "f32", "bf16", ...; "invalid" for kInvalid.
constexpr const char* NameOf(DType type) { return RowOf(type) != nullptr ? RowOf(type)->name : "invalid"; }

// Whether it is a floating-point type that a float32 holds exactly: float32 and what is narrower.
constexpr bool WidensToFloat(DType type) {
  return RowOf(type) != nullptr && RowOf(type)->is_float && SizeOf(type) <= 4;
}

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
