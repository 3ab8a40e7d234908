// Element-wise kernels. Each thread does packs of 16 bytes, a grid's worth of
// threads apart; addresses of whole tensors are aligned, so that all packs but
// the last are one load and one store. The output may be any input of its shape.
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/elementwise/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::elementwise;

struct Neg {
  WEFT_DEVICE static float Of(float x, float) { return -x; }
};
struct Exp {
  WEFT_DEVICE static float Of(float x, float) { return expf(x); }
};
struct Log {
  WEFT_DEVICE static float Of(float x, float) { return logf(x); }
};
struct Sqrt {
  WEFT_DEVICE static float Of(float x, float) { return sqrtf(x); }
};
struct Rsqrt {
  WEFT_DEVICE static float Of(float x, float) { return 1.0f / sqrtf(x); }
};
struct Tanh {
  WEFT_DEVICE static float Of(float x, float) { return tanhf(x); }
};
struct Sigmoid {
  WEFT_DEVICE static float Of(float x, float) { return 1.0f / (1.0f + expf(-x)); }
};
struct Square {
  WEFT_DEVICE static float Of(float x, float) { return x * x; }
};
struct Scale {
  WEFT_DEVICE static float Of(float x, float factor) { return x * factor; }
};

template <typename Op, typename T>
WEFT_DEVICE void Unary(const UnaryArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.y);
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    Pack<T> pack = LoadPack<kPack>(x + at, count);
    for (int i = 0; i < kPack; ++i) pack[i] = Narrow<T>(Op::Of(Widen(pack[i]), args.factor));
    StorePack<kPack>(y + at, pack, count);
  }
}

struct Add {
  WEFT_DEVICE static float Of(float a, float b) { return a + b; }
};
struct Sub {
  WEFT_DEVICE static float Of(float a, float b) { return a - b; }
};
struct Mul {
  WEFT_DEVICE static float Of(float a, float b) { return a * b; }
};
struct Div {
  WEFT_DEVICE static float Of(float a, float b) { return a / b; }
};
// If either is NaN, so is the result: a comparison with NaN is false.
struct Maximum {
  WEFT_DEVICE static float Of(float a, float b) { return a > b || a != a ? a : b; }
};
struct Minimum {
  WEFT_DEVICE static float Of(float a, float b) { return a < b || a != a ? a : b; }
};
struct GreaterEqual {
  WEFT_DEVICE static float Of(float a, float b) { return a >= b ? 1.0f : 0.0f; }
};
struct Equal {
  WEFT_DEVICE static float Of(float a, float b) { return a == b ? 1.0f : 0.0f; }
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

template <typename Op, typename T>
WEFT_DEVICE void Binary(const BinaryArguments& args) {
  constexpr int kPack = Pack<T>::kSize;
  T* y = static_cast<T*>(args.y);
  if (args.packed) {
    for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
      const int64_t at = p * kPack, count = args.n - at;
      Pack<T> a = OperandPack<T>(args, args.a, 0, at, count);
      const Pack<T> b = OperandPack<T>(args, args.b, 1, at, count);
      for (int i = 0; i < kPack; ++i) a[i] = Narrow<T>(Op::Of(Widen(a[i]), Widen(b[i])));
      StorePack<kPack>(y + at, a, count);
    }
    return;
  }
  for (int64_t i : EachOf(args.n)) {
    const T a = static_cast<const T*>(args.a)[OffsetOf(args, i, 0)];
    const T b = static_cast<const T*>(args.b)[OffsetOf(args, i, 1)];
    y[i] = Narrow<T>(Op::Of(Widen(a), Widen(b)));
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

template <typename From, typename To>
WEFT_DEVICE void Cast(const UnaryArguments& args) {
  constexpr int kPack = 16 / (sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To));
  for (int64_t p : EachOf((args.n + kPack - 1) / kPack)) {
    const int64_t at = p * kPack, count = args.n - at;
    const Pack<From, kPack> x = LoadPack<kPack>(static_cast<const From*>(args.x) + at, count);
    Pack<To, kPack> y;
    for (int i = 0; i < kPack; ++i) y[i] = Narrow<To>(static_cast<Compute<To>>(Widen(x[i])));
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

WEFT_FLOATS(neg, UnaryArguments, Unary, Neg)
WEFT_FLOATS(exp, UnaryArguments, Unary, Exp)
WEFT_FLOATS(log, UnaryArguments, Unary, Log)
WEFT_FLOATS(sqrt, UnaryArguments, Unary, Sqrt)
WEFT_FLOATS(rsqrt, UnaryArguments, Unary, Rsqrt)
WEFT_FLOATS(tanh, UnaryArguments, Unary, Tanh)
WEFT_FLOATS(sigmoid, UnaryArguments, Unary, Sigmoid)
WEFT_FLOATS(square, UnaryArguments, Unary, Square)
WEFT_FLOATS(scale, UnaryArguments, Unary, Scale)
WEFT_FLOATS(add, BinaryArguments, Binary, Add)
WEFT_FLOATS(sub, BinaryArguments, Binary, Sub)
WEFT_FLOATS(mul, BinaryArguments, Binary, Mul)
WEFT_FLOATS(div, BinaryArguments, Binary, Div)
WEFT_FLOATS(maximum, BinaryArguments, Binary, Maximum)
WEFT_FLOATS(minimum, BinaryArguments, Binary, Minimum)
WEFT_FLOATS(greater_equal, BinaryArguments, Binary, GreaterEqual)
WEFT_FLOATS(equal, BinaryArguments, Binary, Equal)
WEFT_FLOATS(add_n, AddNArguments, AddN)
WEFT_FLOATS(cast_f32, UnaryArguments, Cast, float)
WEFT_FLOATS(cast_bf16, UnaryArguments, Cast, BF16)
WEFT_FLOATS(cast_f16, UnaryArguments, Cast, F16)
WEFT_FLOATS(cast_i32, UnaryArguments, Cast, int32_t)

WEFT_KERNEL(broadcast_to_1, BroadcastArguments, kThreads) { BroadcastTo<uint8_t>(args); }
WEFT_KERNEL(broadcast_to_2, BroadcastArguments, kThreads) { BroadcastTo<uint16_t>(args); }
WEFT_KERNEL(broadcast_to_4, BroadcastArguments, kThreads) { BroadcastTo<uint32_t>(args); }
WEFT_KERNEL(broadcast_to_8, BroadcastArguments, kThreads) { BroadcastTo<uint64_t>(args); }
