#include "runtime/data/array_type.h"

#include <cstring>
#include <limits>
#include <utility>

namespace weft::data {
namespace {

constexpr ArrayType kTypes[] = {
    {"u8", "|u1", "U8", 1, true},    {"u16", "<u2", "U16", 2, true},  {"i32", "<i4", "I32", 4, true},
    {"i64", "<i8", "I64", 8, true},  {"f16", "<f2", "F16", 2, false}, {"bf16", "", "BF16", 2, false},
    {"f32", "<f4", "F32", 4, false}, {"f64", "<f8", "F64", 8, false},
};

template <typename From>
From ElementAt(const uint8_t* from, int64_t i) {
  From value;
  std::memcpy(&value, from + i * sizeof(From), sizeof(From));
  return value;
}

template <typename Value>
bool Same(const uint8_t* from, int64_t count, void* out) {
  std::memcpy(out, from, count * sizeof(Value));
  return true;
}

template <typename From, typename To>
bool Widen(const uint8_t* from, int64_t count, void* out) {
  for (int64_t i = 0; i < count; ++i) static_cast<To*>(out)[i] = static_cast<To>(ElementAt<From>(from, i));
  return true;
}

template <typename From>
bool WidenFloat(const uint8_t* from, int64_t count, void* out) {
  for (int64_t i = 0; i < count; ++i) static_cast<float*>(out)[i] = ToFloat(ElementAt<From>(from, i));
  return true;
}

bool Narrow(const uint8_t* from, int64_t count, void* out) {
  bool fit = true;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = ElementAt<int64_t>(from, i);
    static_cast<int32_t*>(out)[i] = static_cast<int32_t>(value);
    fit &= std::in_range<int32_t>(value);
  }
  return fit;
}

struct Pair {
  const char* from;
  DType to;
  Conversion conversion;
};

constexpr Pair kPairs[] = {
    {"u8", DType::kU8, Same<uint8_t>},
    {"u8", DType::kI32, Widen<uint8_t, int32_t>},
    {"u8", DType::kI64, Widen<uint8_t, int64_t>},
    {"u8", DType::kF32, Widen<uint8_t, float>},
    {"u16", DType::kI32, Widen<uint16_t, int32_t>},
    {"u16", DType::kI64, Widen<uint16_t, int64_t>},
    {"i32", DType::kI32, Same<int32_t>},
    {"i32", DType::kI64, Widen<int32_t, int64_t>},
    {"i64", DType::kI32, Narrow},
    {"i64", DType::kI64, Same<int64_t>},
    {"f16", DType::kF16, Same<Float16>},
    {"f16", DType::kF32, WidenFloat<Float16>},
    {"bf16", DType::kBF16, Same<BFloat16>},
    {"bf16", DType::kF32, WidenFloat<BFloat16>},
    {"f32", DType::kF32, Same<float>},
    {"f64", DType::kF64, Same<double>},
};

template <typename Value>
Extremes Of(const uint8_t* data, int64_t begin, int64_t count, int64_t skip) {
  Extremes found{.least = std::numeric_limits<int64_t>::max(), .largest = std::numeric_limits<int64_t>::min()};
  for (int64_t i = begin; i < begin + count; ++i) {
    const int64_t value = ElementAt<Value>(data, i);
    if (value == skip) continue;
    if (value < found.least) found.least = value, found.least_at = i;
    if (value > found.largest) found.largest = value, found.largest_at = i;
  }
  if (found.least > found.largest) return {};
  return found;
}

}  // namespace

const ArrayType* TypeOfNumpy(const std::string& word) {
  for (const ArrayType& type : kTypes) {
    if (word == type.numpy && !word.empty()) return &type;
  }
  return nullptr;
}

const ArrayType* TypeOfSafetensors(const std::string& word) {
  for (const ArrayType& type : kTypes) {
    if (word == type.safetensors) return &type;
  }
  return nullptr;
}

Conversion ConversionOf(const ArrayType& from, DType to) {
  for (const Pair& pair : kPairs) {
    if (to == pair.to && std::strcmp(from.name, pair.from) == 0) return pair.conversion;
  }
  return nullptr;
}

Extremes ExtremesOf(const ArrayType& type, const uint8_t* data, int64_t begin, int64_t count, int64_t skip) {
  return type.bytes == 1   ? Of<uint8_t>(data, begin, count, skip)
         : type.bytes == 2 ? Of<uint16_t>(data, begin, count, skip)
         : type.bytes == 4 ? Of<int32_t>(data, begin, count, skip)
                           : Of<int64_t>(data, begin, count, skip);
}

}  // namespace weft::data
