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

template <typename To, typename From>
To Narrow(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return ToBFloat16(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename T>
const T* At(const void* memory, int64_t offset, int64_t element) {
  return reinterpret_cast<const T*>(static_cast<const char*>(memory) + offset) + element;
}

// The first input is of `First`, the others of T, the outputs of Result.
template <typename T, typename Combine, typename First, typename Result>
void Reduce(const void* const* inputs, int input_count, int64_t input_offset, void* const* outputs, int output_count,
            int64_t output_offset, int64_t count) {
  Accumulator<T> sum[kBlock];
  Result result[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = std::min(kBlock, count - begin);
    const First* first = At<First>(inputs[0], input_offset, begin);
    for (int64_t i = 0; i < size; ++i) sum[i] = Widen(first[i]);
    for (int k = 1; k < input_count; ++k) {
      const T* input = At<T>(inputs[k], input_offset, begin);
      for (int64_t i = 0; i < size; ++i) sum[i] = Combine()(sum[i], Widen(input[i]));
    }
    for (int64_t i = 0; i < size; ++i) result[i] = Narrow<Result>(sum[i]);
    for (int k = 0; k < output_count; ++k) {
      Result* output = reinterpret_cast<Result*>(static_cast<char*>(outputs[k]) + output_offset) + begin;
      std::memcpy(output, result, size * sizeof(Result));
    }
  }
}

template <typename T, typename Combine>
ReduceFunction ReducerOf(UnderWay under_way) {
  using Wide = Accumulator<T>;
  if (under_way.first) {
    return under_way.results ? &Reduce<T, Combine, Wide, Wide> : &Reduce<T, Combine, Wide, T>;
  }
  return under_way.results ? &Reduce<T, Combine, T, Wide> : &Reduce<T, Combine, T, T>;
}

template <typename Combine>
ReduceFunction ReducerFor(DType dtype, UnderWay under_way) {
  switch (dtype) {
    case DType::kF32:
      return ReducerOf<float, Combine>(under_way);
    case DType::kBF16:
      return ReducerOf<BFloat16, Combine>(under_way);
    case DType::kF16:
      return ReducerOf<_Float16, Combine>(under_way);
    case DType::kF64:
      return ReducerOf<double, Combine>(under_way);
    case DType::kI32:
      return std::is_same_v<Combine, Sum> ? ReducerOf<uint32_t, Combine>(under_way)
                                          : ReducerOf<int32_t, Combine>(under_way);
    case DType::kI64:
      return std::is_same_v<Combine, Sum> ? ReducerOf<uint64_t, Combine>(under_way)
                                          : ReducerOf<int64_t, Combine>(under_way);
    case DType::kU8:
    case DType::kInvalid:
      break;
  }
  return nullptr;
}

}  // namespace

int64_t UnderWayBytes(DType dtype) {
  const int64_t bytes = static_cast<int64_t>(SizeOf(dtype));
  return bytes == 2 ? static_cast<int64_t>(sizeof(float)) : bytes;
}

absl::StatusOr<ReduceFunction> ReducerFor(DType dtype, Reduction reduction, UnderWay under_way) {
  ReduceFunction function =
      reduction == Reduction::kSum ? ReducerFor<Sum>(dtype, under_way) : ReducerFor<Max>(dtype, under_way);
  if (function != nullptr) return function;
  return absl::UnimplementedError(
      absl::StrCat("reduction: expected f32, bf16, f16, f64, i32 or i64, got ", weft::NameOf(dtype)));
}

}  // namespace weft::collective
