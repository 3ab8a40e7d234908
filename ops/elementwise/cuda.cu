// Element-wise kernels. Each thread does packs of 16 bytes, a grid's worth of
// threads apart; addresses of whole tensors are aligned, so that all packs but
// the last are one load and one store. The output may be any input of its shape.
#include <type_traits>

#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/elementwise/convert.h"
#include "ops/elementwise/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::elementwise;

struct Neg {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return -x; }
};
struct Exp {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return expf(x); }
};
struct Log {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return logf(x); }
};
struct Sqrt {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return sqrtf(x); }
};
struct Rsqrt {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return 1.0f / sqrtf(x); }
};
struct Tanh {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return tanhf(x); }
};
struct Sigmoid {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return 1.0f / (1.0f + expf(-x)); }
};
struct Square {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return x * x; }
};
struct Abs {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return fabsf(x); }
};
struct Sin {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return sinf(x); }
};
struct Cos {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return cosf(x); }
};
// NaN stays, here and in Clamp.
struct Sign {
  WEFT_DEVICE static float Of(float x, const UnaryArguments&) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }
};
struct Scale {
  WEFT_DEVICE static float Of(float x, const UnaryArguments& args) { return x * args.number; }
};
struct AddScalar {
  WEFT_DEVICE static float Of(float x, const UnaryArguments& args) { return x + args.number; }
};
struct Power {
  WEFT_DEVICE static float Of(float x, const UnaryArguments& args) { return powf(x, args.number); }
};
struct Clamp {
  WEFT_DEVICE static float Of(float x, const UnaryArguments& args) {
    const float low = x < args.number ? args.number : x;
    return low > args.other ? args.other : low;
  }
};

template <typename Op, typename T>
WEFT_DEVICE void Unary(const UnaryArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.y);
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    Pack<T> pack = LoadPack<kPack>(x + at, count);
    for (int i = 0; i < kPack; ++i) pack[i] = Narrow<T>(Op::Of(Widen(pack[i]), args));
    StorePack<kPack>(y + at, pack, count);
  }
}

// Of floats, or of unsigned integers, which wrap around.
struct Add {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return a - b;
  }
};
struct Mul {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return a * b;
  }
};
struct Div {
  WEFT_DEVICE static float Of(float a, float b) { return a / b; }
};
// If either is NaN, so is the result: a comparison with NaN is false.
struct Maximum {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct Minimum {
  template <typename T>
  WEFT_DEVICE static T Of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

// Where element `index` of the result comes from in operand `o`.
WEFT_DEVICE int64_t OffsetOf(const BinaryArguments& args, int64_t index, int o) {
  int64_t offset = 0;
  for (int d = 0; d < args.dims; ++d) {
    offset += index % args.extent[d] * args.stride[d][o];
    index /= args.extent[d];
  }
  return offset;
}

// A pack of an operand from element `at` of the result on: neighbours, or one element again and again.
template <typename T>
WEFT_DEVICE Pack<T> OperandPack(const BinaryArguments& args, const void* operand, int o, int64_t at, int64_t count) {
  constexpr int kPack = Pack<T>::kSize;
  const T* from = static_cast<const T*>(operand) + OffsetOf(args, at, o);
  if (args.stride[0][o] != 0) return LoadPack<kPack>(from, count);
  Pack<T> pack;
  for (int i = 0; i < kPack; ++i) pack[i] = *from;
  return pack;
}

// What a type is computed with: integers as they are.
template <typename T>
WEFT_DEVICE auto Wide(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return Widen(x);
  }
}
template <typename T, typename Computed>
WEFT_DEVICE T Back(Computed x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return Narrow<T>(x);
  }
}

template <typename Op, typename T>
WEFT_DEVICE void Binary(const BinaryArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  T* y = static_cast<T*>(args.y);
  if (args.packed) {
    for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
      const int64_t at = p * kPack, count = args.n - at;
      Pack<T> a = OperandPack<T>(args, args.a, 0, at, count);
      const Pack<T> b = OperandPack<T>(args, args.b, 1, at, count);
      for (int i = 0; i < kPack; ++i) a[i] = Back<T>(Op::Of(Wide(a[i]), Wide(b[i])));
      StorePack<kPack>(y + at, a, count);
    }
    return;
  }
  for (int64_t i : EachOf(args.n)) {
    const T a = static_cast<const T*>(args.a)[OffsetOf(args, i, 0)];
    const T b = static_cast<const T*>(args.b)[OffsetOf(args, i, 1)];
    y[i] = Back<T>(Op::Of(Wide(a), Wide(b)));
  }
}

template <typename T>
WEFT_DEVICE void AddN(const AddNArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    float sum[kPack];
    for (int k = 0; k < args.terms; ++k) {
      const Pack<T> x = LoadPack<kPack>(static_cast<const T*>(args.x[k]) + at, count);
      for (int i = 0; i < kPack; ++i) sum[i] = k == 0 ? Widen(x[i]) : sum[i] + Widen(x[i]);
    }
    Pack<T> y;
    for (int i = 0; i < kPack; ++i) y[i] = Narrow<T>(sum[i]);
    StorePack<kPack>(static_cast<T*>(args.y) + at, y, count);
  }
}

template <typename To, typename From>
WEFT_DEVICE To Convert(From x) {
  if constexpr (std::is_integral_v<From>) {
    if constexpr (std::is_integral_v<To>) {
      return static_cast<To>(x);
    } else {
      return Narrow<To>(static_cast<float>(x));
    }
  } else if constexpr (std::is_integral_v<To>) {
    return ToInteger<To>(Widen(x));
  } else {
    return Narrow<To>(Widen(x));
  }
}

template <typename From, typename To>
WEFT_DEVICE void Cast(const UnaryArguments& args) {
  constexpr int kPack = 16 / (sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To));
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    const Pack<From, kPack> x = LoadPack<kPack>(static_cast<const From*>(args.x) + at, count);
    Pack<To, kPack> y;
    for (int i = 0; i < kPack; ++i) y[i] = Convert<To>(x[i]);
    StorePack<kPack>(static_cast<To*>(args.y) + at, y, count);
  }
}

// Moves elements as words of their size.
template <typename Word>
WEFT_DEVICE void BroadcastTo(const BroadcastArguments& args) {
  for (int64_t i : EachOf(args.n)) {
    int64_t offset = 0, rest = i;
    for (int d = 0; d < args.dims; ++d) {
      offset += rest % args.extent[d] * args.stride[d];
      rest /= args.extent[d];
    }
    static_cast<Word*>(args.y)[i] = static_cast<const Word*>(args.x)[offset];
  }
}

}  // namespace

#define WEFT_FLOATS(kernel, Arguments, function, ...)                                                  \
  WEFT_KERNEL(kernel##_f32, Arguments, kThreads) { function<__VA_ARGS__ __VA_OPT__(, ) float>(args); } \
  WEFT_KERNEL(kernel##_bf16, Arguments, kThreads) { function<__VA_ARGS__ __VA_OPT__(, ) BF16>(args); } \
  WEFT_KERNEL(kernel##_f16, Arguments, kThreads) { function<__VA_ARGS__ __VA_OPT__(, ) F16>(args); }

#define WEFT_NUMBERS(kernel, Op, Word, Long)                                       \
  WEFT_FLOATS(kernel, BinaryArguments, Binary, Op)                                 \
  WEFT_KERNEL(kernel##_i32, BinaryArguments, kThreads) { Binary<Op, Word>(args); } \
  WEFT_KERNEL(kernel##_i64, BinaryArguments, kThreads) { Binary<Op, Long>(args); }

#define WEFT_CASTS(name, From)                                                            \
  WEFT_FLOATS(cast_##name, UnaryArguments, Cast, From)                                    \
  WEFT_KERNEL(cast_##name##_i32, UnaryArguments, kThreads) { Cast<From, int32_t>(args); } \
  WEFT_KERNEL(cast_##name##_i64, UnaryArguments, kThreads) { Cast<From, int64_t>(args); } \
  WEFT_KERNEL(cast_##name##_u8, UnaryArguments, kThreads) { Cast<From, uint8_t>(args); }

WEFT_FLOATS(neg, UnaryArguments, Unary, Neg)
WEFT_FLOATS(exp, UnaryArguments, Unary, Exp)
WEFT_FLOATS(log, UnaryArguments, Unary, Log)
WEFT_FLOATS(sqrt, UnaryArguments, Unary, Sqrt)
WEFT_FLOATS(rsqrt, UnaryArguments, Unary, Rsqrt)
WEFT_FLOATS(tanh, UnaryArguments, Unary, Tanh)
WEFT_FLOATS(sigmoid, UnaryArguments, Unary, Sigmoid)
WEFT_FLOATS(square, UnaryArguments, Unary, Square)
WEFT_FLOATS(abs, UnaryArguments, Unary, Abs)
WEFT_FLOATS(sign, UnaryArguments, Unary, Sign)
WEFT_FLOATS(sin, UnaryArguments, Unary, Sin)
WEFT_FLOATS(cos, UnaryArguments, Unary, Cos)
WEFT_FLOATS(scale, UnaryArguments, Unary, Scale)
WEFT_FLOATS(add_scalar, UnaryArguments, Unary, AddScalar)
WEFT_FLOATS(power, UnaryArguments, Unary, Power)
WEFT_FLOATS(clamp, UnaryArguments, Unary, Clamp)
WEFT_NUMBERS(add, Add, uint32_t, uint64_t)
WEFT_NUMBERS(sub, Sub, uint32_t, uint64_t)
WEFT_NUMBERS(mul, Mul, uint32_t, uint64_t)
WEFT_NUMBERS(maximum, Maximum, int32_t, int64_t)
WEFT_NUMBERS(minimum, Minimum, int32_t, int64_t)
WEFT_FLOATS(div, BinaryArguments, Binary, Div)
WEFT_FLOATS(add_n, AddNArguments, AddN)
WEFT_CASTS(f32, float)
WEFT_CASTS(bf16, BF16)
WEFT_CASTS(f16, F16)
WEFT_CASTS(i32, int32_t)
WEFT_CASTS(i64, int64_t)
WEFT_CASTS(u8, uint8_t)

WEFT_KERNEL(broadcast_to_1, BroadcastArguments, kThreads) { BroadcastTo<uint8_t>(args); }
WEFT_KERNEL(broadcast_to_2, BroadcastArguments, kThreads) { BroadcastTo<uint16_t>(args); }
WEFT_KERNEL(broadcast_to_4, BroadcastArguments, kThreads) { BroadcastTo<uint32_t>(args); }
WEFT_KERNEL(broadcast_to_8, BroadcastArguments, kThreads) { BroadcastTo<uint64_t>(args); }
