#include "runtime/collective/reduce.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace weft::collective {
namespace {

// Elements that are combined before they are written: they stay in the first cache.
constexpr int64_t kBlock = 1024;

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

struct Max {
  // A NaN wins, as it does in a sum.
  template <typename T>
  T operator()(T a, T b) const {
    return b > a || b != b ? b : a;
  }
};

// Integers wrap around instead of overflowing.
template <typename T>
using Accumulator = std::conditional_t<sizeof(T) == 2, float, T>;

template <typename T>
Accumulator<T> Widen(T value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return ToFloat(value);
  } else {
    return static_cast<Accumulator<T>>(value);
  }
}

template <typename T>
T Narrow(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return ToBFloat16(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename T, typename Combine>
void Reduce(const void* const* inputs, int input_count, int64_t input_offset, void* const* outputs, int output_count,
            int64_t output_offset, int64_t count) {
  Accumulator<T> sum[kBlock];
  T result[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = std::min(kBlock, count - begin);
    for (int k = 0; k < input_count; ++k) {
      const T* input = reinterpret_cast<const T*>(static_cast<const char*>(inputs[k]) + input_offset) + begin;
      if (k == 0) {
        for (int64_t i = 0; i < size; ++i) sum[i] = Widen(input[i]);
      } else {
        for (int64_t i = 0; i < size; ++i) sum[i] = Combine()(sum[i], Widen(input[i]));
      }
    }
    for (int64_t i = 0; i < size; ++i) result[i] = Narrow<T>(sum[i]);
    for (int k = 0; k < output_count; ++k) {
      T* output = reinterpret_cast<T*>(static_cast<char*>(outputs[k]) + output_offset) + begin;
      std::memcpy(output, result, size * sizeof(T));
    }
  }
}

template <typename Combine>
ReduceFunction ReducerFor(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return &Reduce<float, Combine>;
    case DType::kBF16:
      return &Reduce<BFloat16, Combine>;
    case DType::kF16:
      return &Reduce<_Float16, Combine>;
    case DType::kF64:
      return &Reduce<double, Combine>;
    case DType::kI32:
      return std::is_same_v<Combine, Sum> ? &Reduce<uint32_t, Combine> : &Reduce<int32_t, Combine>;
    case DType::kI64:
      return std::is_same_v<Combine, Sum> ? &Reduce<uint64_t, Combine> : &Reduce<int64_t, Combine>;
    case DType::kU8:
    case DType::kInvalid:
      break;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<ReduceFunction> ReducerFor(DType dtype, Reduction reduction) {
  ReduceFunction function = reduction == Reduction::kSum ? ReducerFor<Sum>(dtype) : ReducerFor<Max>(dtype);
  if (function != nullptr) return function;
  return absl::UnimplementedError(
      absl::StrCat("reduction: expected f32, bf16, f16, f64, i32 or i64, got ", weft::NameOf(dtype)));
}

}  // namespace weft::collective
