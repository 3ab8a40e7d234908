// Element types of kernels. Values are stored in any of them and computed with
// in float (or double).
#ifndef WEFT_OPS_CUDA_TYPES_H_
#define WEFT_OPS_CUDA_TYPES_H_

#include "ops/cuda/kernel.h"

namespace weft::gpu {

// The bits of __nv_bfloat16 and weft::BFloat16, and of __half and _Float16.
struct BF16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

// What a type is computed with.
template <typename T>
struct ComputeOf {
  using Type = float;
};
template <>
struct ComputeOf<double> {
  using Type = double;
};
template <>
struct ComputeOf<int32_t> {
  using Type = int32_t;
};
template <>
struct ComputeOf<int64_t> {
  using Type = int64_t;
};
template <typename T>
using Compute = typename ComputeOf<T>::Type;

template <typename T>
WEFT_DEVICE Compute<T> Widen(T value) {
  return value;
}
template <>
WEFT_DEVICE float Widen(BF16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float wide;
  memcpy(&wide, &bits, sizeof(wide));
  return wide;
}
template <>
WEFT_DEVICE float Widen(F16 value) {
#if defined(__CUDACC__)
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
  return wide;
#else
  _Float16 half;
  memcpy(&half, &value, sizeof(half));
  return static_cast<float>(half);
#endif
}

// Rounds to nearest even.
template <typename T>
WEFT_DEVICE T Narrow(Compute<T> value) {
  return value;
}
template <>
WEFT_DEVICE BF16 Narrow<BF16>(float value) {
#if defined(__CUDACC__)
  BF16 narrow;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
  return narrow;
#else
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {0x7fff};  // as cvt does
  return {static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
#endif
}
template <>
WEFT_DEVICE F16 Narrow<F16>(float value) {
  F16 narrow;
#if defined(__CUDACC__)
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
#else
  const _Float16 half = static_cast<_Float16>(value);
  memcpy(&narrow, &half, sizeof(half));
#endif
  return narrow;
}

// Neighbouring elements that are read and written at once; 16 bytes unless N says otherwise.
template <typename T, int N = 16 / sizeof(T)>
struct alignas(sizeof(T) * N) Pack {
  static constexpr int kSize = N;
  T values[N];
  WEFT_DEVICE T& operator[](int i) { return values[i]; }
  WEFT_DEVICE const T& operator[](int i) const { return values[i]; }
};

// The first `count` elements at `at`, at most a pack: in one access where the pack is whole
// and aligned, otherwise one by one.
template <int N, typename T>
WEFT_DEVICE Pack<T, N> LoadPack(const T* at, int64_t count) {
  using P = Pack<T, N>;
  if (count >= N && reinterpret_cast<uintptr_t>(at) % alignof(P) == 0) return *reinterpret_cast<const P*>(at);
  P pack = {};
  for (int i = 0; i < N; ++i) {
    if (i < count) pack[i] = at[i];
  }
  return pack;
}
template <int N, typename T>
WEFT_DEVICE void StorePack(T* at, const Pack<T, N>& pack, int64_t count) {
  using P = Pack<T, N>;
  if (count >= N && reinterpret_cast<uintptr_t>(at) % alignof(P) == 0) {
    *reinterpret_cast<P*>(at) = pack;
    return;
  }
  for (int i = 0; i < N; ++i) {
    if (i < count) at[i] = pack[i];
  }
}

// Calls f(first, pack, count) for the packs of n neighbours at `x` that are this thread's, of a block of one dimension:
// elements first to first + count, which are the first of the pack. Several whole packs are loaded before one is used,
// as a long row goes at the speed of memory only if that many loads are under way. Before the first place that is
// aligned and behind the last whole pack `count` is 1.
template <typename T, typename F>
WEFT_DEVICE void EachPack(const T* x, int64_t n, F f) {
  using P = Pack<T>;
  constexpr int kLoads = 4;
  const int64_t off = static_cast<int64_t>(reinterpret_cast<uintptr_t>(x) / sizeof(T) % P::kSize);
  const int64_t aligned = off == 0 ? 0 : P::kSize - off, head = aligned < n ? aligned : n;
  const P* const packs = reinterpret_cast<const P*>(x + head);
  const int64_t whole = (n - head) / P::kSize;
  for (int64_t at = threadIdx.x; at < whole; at += kLoads * int64_t{blockDim.x}) {
    P loaded[kLoads];
    for (int k = 0; k < kLoads; ++k) {
      if (at + k * int64_t{blockDim.x} < whole) loaded[k] = packs[at + k * int64_t{blockDim.x}];
    }
    for (int k = 0; k < kLoads; ++k) {
      const int64_t pack = at + k * int64_t{blockDim.x};
      if (pack < whole) f(head + pack * P::kSize, loaded[k], P::kSize);
    }
  }
  const int64_t tail = head + whole * P::kSize;
  for (int64_t i = threadIdx.x; i < head + n - tail; i += blockDim.x) {
    P one;
    const int64_t at = i < head ? i : tail + i - head;
    one[0] = x[at];
    f(at, one, 1);
  }
}

}  // namespace weft::gpu

#endif  // WEFT_OPS_CUDA_TYPES_H_
