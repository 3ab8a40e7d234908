// What attention by matrix instructions is made of. Part of cuda.cu.
//
// A warp has kTiles times 16 rows of the block's tile: query rows, or, for their gradient, keys. Scores
// come out of one product spread over lanes as the next one takes its left operand, so that neither
// they nor p and ds ever leave registers; that is why the gradient of keys makes the transposed scores.
// Tiles in shared memory are rows of kDepth elements, in packs of 8 (16 bytes) that are swizzled: pack c
// of row r lies at c ^ (r % 8), so that 8 rows of one pack are in different banks.
#ifndef WEFT_OPS_ATTENTION_CUDA_CODE_TILE_H_
#define WEFT_OPS_ATTENTION_CUDA_CODE_TILE_H_

#include "ops/attention/cuda_code_place.h"
#include "ops/cuda/matrix.h"
#include "ops/cuda/reduce.h"

namespace weft::attention::tensor {

template <typename Type, int kDepthOf, TensorTile kTile>
struct Shape {
  using T = Type;
  static constexpr int kDepth = kDepthOf;
  static constexpr int kPacks = kDepth / 8;  // of a row; also the 8 columns that a MatrixC has
  static constexpr int kTiles = kTile.tiles;
  static constexpr int kThreads = kTile.threads();
  static constexpr int kSide = kTile.side();
  static constexpr int kStep = kTile.step;
  static constexpr int kSteps = kStep / 8;  // of a step, likewise
};

// What one warp has of a product: its rows by 8 kN columns.
template <int kTiles, int kN>
using Sums = MatrixC[kTiles][kN];

WEFT_DEVICE int Lane() { return static_cast<int>(threadIdx.x % 32); }
WEFT_DEVICE int Warp() { return static_cast<int>(threadIdx.x / 32); }
// Of value i of a MatrixC.
WEFT_DEVICE int RowOf(int i) { return Lane() / 4 + i / 2 * 8; }
WEFT_DEVICE int ColumnOf(int i) { return Lane() % 4 * 2 + i % 2; }

// Of a pack in a tile, in elements.
template <int kDepth>
WEFT_DEVICE int At(int row, int pack) {
  return row * kDepth + (pack ^ (row & 7)) * 8;
}

// Starts to load kRows rows from row `first`, of `count`; zeros beyond them and beyond `depth`.
template <typename S, int kRows>
WEFT_DEVICE void LoadTile(const typename S::T* head, int64_t stride, int first, int count, int depth,
                          typename S::T* tile) {
  static_assert(kRows * S::kPacks % S::kThreads == 0);
#pragma unroll
  for (int load = 0; load < kRows * S::kPacks / S::kThreads; ++load) {
    const int i = static_cast<int>(threadIdx.x) + load * S::kThreads, row = i / S::kPacks, pack = i % S::kPacks;
    const bool inside = first + row < count && pack * 8 < depth;
    CopyAsync<16>(tile + At<S::kDepth>(row, pack), inside ? head + (first + row) * stride + pack * 8 : head, inside);
  }
}

template <int kTiles, int kN>
WEFT_DEVICE void Clear(Sums<kTiles, kN>& sums) {
#pragma unroll
  for (int m = 0; m < kTiles; ++m) {
#pragma unroll
    for (int n = 0; n < kN; ++n) sums[m][n] = {};
  }
}

// sums = rows of `left` from `row` times rows of `right`, transposed.
template <typename S, int kN>
WEFT_DEVICE void Products(const typename S::T* left, int row, const typename S::T* right, Sums<S::kTiles, kN>& sums) {
  const int lane = Lane();
  Clear(sums);
#pragma unroll
  for (int k = 0; k < S::kDepth / 16; ++k) {
    MatrixA a[S::kTiles];
#pragma unroll
    for (int m = 0; m < S::kTiles; ++m) {
      LoadMatrices(a[m].words, left + At<S::kDepth>(row + 16 * m + lane % 16, 2 * k + lane / 16));
    }
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      uint32_t b[4];
      LoadMatrices(b, right + At<S::kDepth>(8 * n + lane % 8 + lane / 16 * 8, 2 * k + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < S::kTiles; ++m) {
        MultiplyAdd<typename S::T>(sums[m][n], a[m], {{b[0], b[1]}});
        MultiplyAdd<typename S::T>(sums[m][n + 1], a[m], {{b[2], b[3]}});
      }
    }
  }
}

// sums += weights, narrowed, times rows of `right`.
template <typename S, int kN>
WEFT_DEVICE void Accumulate(const Sums<S::kTiles, kN>& weights, const typename S::T* right,
                            Sums<S::kTiles, S::kPacks>& sums) {
  using T = typename S::T;
  const int lane = Lane();
#pragma unroll
  for (int k = 0; k < kN / 2; ++k) {
    MatrixA a[S::kTiles];
#pragma unroll
    for (int m = 0; m < S::kTiles; ++m) {
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const float* pair = weights[m][2 * k + w / 2].values + w % 2 * 2;
        a[m].words[w] = PackWord<T>(pair[0], pair[1]);
      }
    }
#pragma unroll
    for (int n = 0; n < S::kPacks; n += 2) {
      uint32_t b[4];
      LoadTransposed(b, right + At<S::kDepth>(16 * k + lane % 16, n + lane / 16));
#pragma unroll
      for (int m = 0; m < S::kTiles; ++m) {
        MultiplyAdd<T>(sums[m][n], a[m], {{b[0], b[1]}});
        MultiplyAdd<T>(sums[m][n + 1], a[m], {{b[2], b[3]}});
      }
    }
  }
}

// This warp's rows of a tile from `row`, times factor(m, i), by way of its rows of `tile`, which
// nobody else uses any more, to rows from `first`, those below `count`.
template <typename S, typename Factor>
WEFT_DEVICE void StoreRows(const Sums<S::kTiles, S::kPacks>& sums, const Factor& factor, typename S::T* tile, int row,
                           typename S::T* head, int64_t stride, int first, int count, int depth) {
  using T = typename S::T;
#pragma unroll
  for (int m = 0; m < S::kTiles; ++m) {
#pragma unroll
    for (int n = 0; n < S::kPacks; ++n) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const float f = factor(m, i), *pair = sums[m][n].values + i;
        T* to = tile + At<S::kDepth>(row + 16 * m + RowOf(i), n) + ColumnOf(i);
        *reinterpret_cast<uint32_t*>(to) = PackWord<T>(pair[0] * f, pair[1] * f);
      }
    }
  }
  __syncwarp();
#pragma unroll
  for (int load = 0; load < 16 * S::kTiles * S::kPacks / 32; ++load) {
    const int i = Lane() + 32 * load, local = row + i / S::kPacks, pack = i % S::kPacks;
    if (first + local >= count || pack * 8 >= depth) continue;
    *reinterpret_cast<Pack<T>*>(head + (first + local) * stride + pack * 8) =
        *reinterpret_cast<const Pack<T>*>(tile + At<S::kDepth>(local, pack));
  }
}

// The running state of a warp's rows: of those of values 0 and 1, and of 2 and 3, of each MatrixC.
template <int kTiles>
struct Running {
  float largest[kTiles][2], sum[kTiles][2];  // of scores times log2 e; of this lane's exponentials
};

// Over the 4 lanes that have one row.
template <typename Op>
WEFT_DEVICE float RowReduce(float value) {
  value = Op::Of(value, __shfl_xor_sync(0xffffffffu, value, 1));
  return Op::Of(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

// Turns scores into exponentials below the running maximum, 0 from valid(m, i) columns on, and scales
// what the rows have summed so far. `scale`, with log2 e, is above 0.
template <typename S, typename Valid>
WEFT_DEVICE void SoftmaxStep(Sums<S::kTiles, S::kSteps>& s, float scale, bool masked, const Valid& valid,
                             Running<S::kTiles>& running, Sums<S::kTiles, S::kPacks>& o) {
#pragma unroll
  for (int m = 0; m < S::kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int end = masked ? valid(m, 2 * r) : 0;
      float now = -INFINITY;
#pragma unroll
      for (int n = 0; n < S::kSteps; ++n) {
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) {
          float& score = s[m][n].values[i];
          if (masked && 8 * n + ColumnOf(i) >= end) score = -INFINITY;
          now = fmaxf(now, score);
        }
      }
      now = fmaxf(running.largest[m][r], RowReduce<Max>(now) * scale);
      const float shift = now == -INFINITY ? 0.0f : now, shrink = FastExp2(running.largest[m][r] - shift);
      running.largest[m][r] = now;
      float sum = running.sum[m][r] * shrink;
#pragma unroll
      for (int n = 0; n < S::kSteps; ++n) {
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; ++i) {
          s[m][n].values[i] = FastExp2(s[m][n].values[i] * scale - shift);
          sum += s[m][n].values[i];
        }
      }
      running.sum[m][r] = sum;
#pragma unroll
      for (int n = 0; n < S::kPacks; ++n) {
        o[m][n].values[2 * r] *= shrink;
        o[m][n].values[2 * r + 1] *= shrink;
      }
    }
  }
}

}  // namespace weft::attention::tensor

#endif  // WEFT_OPS_ATTENTION_CUDA_CODE_TILE_H_
