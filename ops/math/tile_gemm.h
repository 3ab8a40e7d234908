// Small matrix products on vector registers, for kernels that need one inside
// a fused loop, where a library call would cost more than the product.
//
// Everything is in an unnamed namespace and nothing of the standard library is
// used: a unit that includes this header may be compiled for several CPUs (see
// ops/attention/BUILD), and no copy for a newer one may leak to the others.
// Pure functions, callable from any thread; nothing allocates.
#ifndef WEFT_OPS_MATH_TILE_GEMM_H_
#define WEFT_OPS_MATH_TILE_GEMM_H_

#include <cstdint>

namespace weft {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;   // floats in a vector
constexpr int kVectors = 4;  // vectors in a row of a tile: 6 x 4 sums leave 8 of 32 registers
#else
constexpr int kWidth = 8;
constexpr int kVectors = 2;  // 6 x 2 sums leave 4 of 16 registers
#endif
constexpr int kRows = 6;   // rows of a tile
constexpr int kAhead = 8;  // rows of the right operand that are fetched ahead

template <int... kLane>
struct LaneList {};
#if defined(__AVX512F__)
using Lanes = LaneList<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;
#else
using Lanes = LaneList<0, 1, 2, 3, 4, 5, 6, 7>;
#endif

typedef float Vector __attribute__((vector_size(4 * kWidth)));
typedef float UnalignedVector __attribute__((vector_size(4 * kWidth), aligned(4), may_alias));

[[gnu::always_inline]] inline Vector Load(const float* p) { return *reinterpret_cast<const UnalignedVector*>(p); }
[[gnu::always_inline]] inline void Store(float* p, Vector v) { *reinterpret_cast<UnalignedVector*>(p) = v; }

// One step of Transpose(): exchanges the blocks of `kBlock` lanes off the diagonal.
template <int kBlock, int... kLane>
[[gnu::always_inline]] inline void ExchangeBlocks(Vector& x, Vector& y, LaneList<kLane...>) {
  const Vector low = __builtin_shufflevector(x, y, ((kLane & kBlock) == 0 ? kLane : kWidth + kLane - kBlock)...);
  y = __builtin_shufflevector(x, y, ((kLane & kBlock) == 0 ? kLane + kBlock : kWidth + kLane)...);
  x = low;
}

template <int kBlock>
[[gnu::always_inline]] inline void TransposeFrom(Vector (&rows)[kWidth]) {
#pragma clang loop unroll(full)
  for (int i = 0; i < kWidth; ++i) {
    if ((i & kBlock) == 0) ExchangeBlocks<kBlock>(rows[i], rows[i + kBlock], Lanes{});
  }
  if constexpr (kBlock > 1) TransposeFrom<kBlock / 2>(rows);
}

// Transposes kWidth rows of kWidth floats in registers, block by block (Eklundh, "A fast computer
// method for matrix transposing", 1972).
[[gnu::always_inline]] inline void Transpose(Vector (&rows)[kWidth]) { TransposeFrom<kWidth / 2>(rows); }

// to[c * to_stride + r] = from[r * from_stride + c] for `rows` x `columns`, with `rows` at most
// kWidth; the rest of the kWidth columns of `to` is zero.
inline void TransposeStrip(const float* from, int64_t from_stride, int64_t rows, int64_t columns, float* to,
                           int64_t to_stride) {
  int64_t c = 0;
  for (; c + kWidth <= columns && rows > 0; c += kWidth) {
    Vector strip[kWidth];
    if (rows == kWidth) {
#pragma clang loop unroll(full)
      for (int r = 0; r < kWidth; ++r) strip[r] = Load(from + r * from_stride + c);
    } else {
      for (int r = 0; r < kWidth; ++r) strip[r] = r < rows ? Load(from + r * from_stride + c) : Vector{};
    }
    Transpose(strip);
#pragma clang loop unroll(full)
    for (int r = 0; r < kWidth; ++r) Store(to + (c + r) * to_stride, strip[r]);
  }
  for (; c < columns; ++c) {
    for (int64_t r = 0; r < kWidth; ++r) to[c * to_stride + r] = r < rows ? from[r * from_stride + c] : 0.0f;
  }
}

// A[rows x k] with element (i, p) at data[i * row + p * column].
struct LeftMatrix {
  const float* data;
  int64_t row;
  int64_t column;
};

// C[R x V vectors] = A B, or += where `accumulate`; rows of B and C are `ldb` and `ldc` apart. What
// is there already is added last, so that a sum in blocks of k errs like its longest block.
template <int R, int V>
[[gnu::noinline]] inline void TileProduct(int64_t k, LeftMatrix a, const float* b, int64_t ldb, float* c, int64_t ldc,
                                          bool accumulate) {
  Vector sum[R][V];
#pragma clang loop unroll(full)
  for (int r = 0; r < R; ++r) {
#pragma clang loop unroll(full)
    for (int v = 0; v < V; ++v) {
      sum[r][v] = Vector{};
      __builtin_prefetch(c + r * ldc + v * kWidth, 1);
    }
  }
  const float* left = a.data;
  for (int64_t p = 0; p < k; ++p, left += a.column, b += ldb) {
    Vector right[V];
#pragma clang loop unroll(full)
    for (int v = 0; v < V; ++v) {
      right[v] = Load(b + v * kWidth);
      __builtin_prefetch(b + kAhead * ldb + v * kWidth);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < R; ++r) {
      const Vector factor = left[r * a.row] - Vector{};
#pragma clang loop unroll(full)
      for (int v = 0; v < V; ++v) sum[r][v] += factor * right[v];
    }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < R; ++r) {
#pragma clang loop unroll(full)
    for (int v = 0; v < V; ++v) {
      float* const to = c + r * ldc + v * kWidth;
      Store(to, accumulate ? Load(to) + sum[r][v] : sum[r][v]);
    }
  }
}

using TileFunction = void (*)(int64_t, LeftMatrix, const float*, int64_t, float*, int64_t, bool);

template <int R>
TileFunction TileOfVectors(int vectors) {
  if constexpr (kVectors == 4) {
    if (vectors == 4) return TileProduct<R, 4>;
    if (vectors == 3) return TileProduct<R, 3>;
  }
  return vectors == 2 ? TileProduct<R, 2> : TileProduct<R, 1>;
}

inline TileFunction TileFor(int rows, int vectors) {
  switch (rows) {
    case 1:
      return TileOfVectors<1>(vectors);
    case 2:
      return TileOfVectors<2>(vectors);
    case 3:
      return TileOfVectors<3>(vectors);
    case 4:
      return TileOfVectors<4>(vectors);
    case 5:
      return TileOfVectors<5>(vectors);
    default:
      return TileOfVectors<6>(vectors);
  }
}

// C[rows x n] = A[rows x k] B[k x n], or += where `accumulate`. 1 <= rows <= kRows; n is a
// multiple of kWidth. Each element is summed in the order of k, whatever rows and n are.
inline void RowProduct(int rows, int64_t n, int64_t k, LeftMatrix a, const float* b, int64_t ldb, float* c, int64_t ldc,
                       bool accumulate) {
  constexpr int64_t kColumns = int64_t{kVectors} * kWidth;
  int64_t j = 0;
  const TileFunction full = TileFor(rows, kVectors);
  for (; j + kColumns <= n; j += kColumns) full(k, a, b + j, ldb, c + j, ldc, accumulate);
  if (j < n) TileFor(rows, static_cast<int>((n - j) / kWidth))(k, a, b + j, ldb, c + j, ldc, accumulate);
}

}  // namespace
}  // namespace weft

#endif  // WEFT_OPS_MATH_TILE_GEMM_H_
