// One tile of a matrix product by one block of 256 threads, for operands of any size and alignment. Part of cuda.cu.
#ifndef WEFT_OPS_EINSUM_CUDA_CODE_TILE_H_
#define WEFT_OPS_EINSUM_CUDA_CODE_TILE_H_

#include "ops/cuda/matrix.h"
#include "ops/cuda/types.h"
#include "ops/einsum/cuda_arguments.h"

namespace weft::einsum {

using namespace gpu;

// One side of a product: element (t, d), t of the tile and d of what is summed over, is first[t * stride + d] if
// neighbours lie along what is summed over, else first[d * stride + t]; 0 from t = `count` on.
template <typename T>
struct TileOperand {
  const T* first;
  int64_t stride;
  int64_t count;
  bool along_inner;

  WEFT_DEVICE float operator()(int t, int64_t d) const {
    if (t >= count) return 0.0f;
    return Widen(first[along_inner ? t * stride + d : d * stride + t]);
  }
};

// Sums in float. The block is kSide x kSide threads; each has (kTile / kSide)^2 elements, kSide apart, in registers.
// Tiles of both operands, kDepth deep, go through shared memory. Every element is one sum in ascending order of the
// inner index: deterministic. All threads of the block call Add() alike.
struct FloatTile {
  static constexpr int kSize = kTile;
  static constexpr int kEach = kTile / kSide;
  static constexpr int kLoads = kTile * kDepth / (kSide * kSide);

  float sum[kEach][kEach] = {};

  // Adds left(t, d) * right(u, d) to element (t, u), for all d below `inner`. Both are asked for d below `inner` alone.
  template <typename Left, typename Right>
  WEFT_DEVICE void Add(int64_t inner, const Left& left, const Right& right) {
    __shared__ float left_tile[kDepth][kTile + 1];
    __shared__ float right_tile[kDepth][kTile + 1];
    for (int64_t depth = 0; depth < inner; depth += kDepth) {
      Load(left, depth, inner, left_tile);
      Load(right, depth, inner, right_tile);
      __syncthreads();
      for (int d = 0; d < kDepth; ++d) {
        for (int i = 0; i < kEach; ++i) {
          const float l = left_tile[d][threadIdx.y + i * kSide];
          for (int j = 0; j < kEach; ++j) sum[i][j] += l * right_tile[d][threadIdx.x + j * kSide];
        }
      }
      __syncthreads();
    }
  }

  // Calls body(row, column, sum), both within the tile, for each of this thread's elements.
  template <typename Body>
  WEFT_DEVICE void Each(const Body& body) const {
    for (int i = 0; i < kEach; ++i) {
      for (int j = 0; j < kEach; ++j) {
        body(static_cast<int>(threadIdx.y) + i * kSide, static_cast<int>(threadIdx.x) + j * kSide, sum[i][j]);
      }
    }
  }

 private:
  // Neighbouring threads ask for neighbours.
  template <typename Operand>
  static WEFT_DEVICE void Load(const Operand& operand, int64_t depth, int64_t inner, float (&tile)[kDepth][kTile + 1]) {
    const int thread = static_cast<int>(threadIdx.y * kSide + threadIdx.x);
    for (int load = 0; load < kLoads; ++load) {
      const int at = thread + load * kSide * kSide;
      const int d = operand.along_inner ? at % kDepth : at / kTile, t = operand.along_inner ? at / kDepth : at % kTile;
      tile[d][t] = depth + d < inner ? operand(t, depth + d) : 0.0f;
    }
  }
};

// The same by matrix instructions, of T = BF16 or F16. Eight warps have 64 x 32 elements each of kSize x kSize. Tiles
// are in shared memory as they lie in global memory; rows are 16 bytes longer than what they hold, so that eight packs
// of 8 in a column are in different banks.
template <typename T>
struct MatrixTile {
  static constexpr int kSize = kMatrixTile;
  static constexpr int kDepth = 32;
  static constexpr int kPacks = kSize * kDepth / 8;
  static constexpr int kInnerStride = kDepth + 8, kOuterStride = kSize + 8;
  static constexpr int kElements = kSize * kInnerStride;  // more than kDepth * kOuterStride

  MatrixC sum[4][4] = {};

  WEFT_DEVICE void Add(int64_t inner, const TileOperand<T>& left, const TileOperand<T>& right) {
    __shared__ Pack<T> left_packs[kElements / 8];
    __shared__ Pack<T> right_packs[kElements / 8];
    T *left_tile = reinterpret_cast<T*>(left_packs), *right_tile = reinterpret_cast<T*>(right_packs);
    for (int64_t depth = 0; depth < inner; depth += kDepth) {
      Load(left, depth, inner, left_tile);
      Load(right, depth, inner, right_tile);
      __syncthreads();
      for (int k = 0; k < kDepth; k += 16) Multiply(k, left_tile, left.along_inner, right_tile, right.along_inner);
      __syncthreads();
    }
  }

  template <typename Body>
  WEFT_DEVICE void Each(const Body& body) const {
    const int lane = Thread() % 32;
    for (int m = 0; m < 4; ++m) {
      for (int n = 0; n < 4; ++n) {
        for (int i = 0; i < 4; ++i) {
          body(Row() + 16 * m + lane / 4 + i / 2 * 8, Column() + 8 * n + lane % 4 * 2 + i % 2, sum[m][n].values[i]);
        }
      }
    }
  }

 private:
  static WEFT_DEVICE int Thread() { return static_cast<int>(threadIdx.y * kSide + threadIdx.x); }
  // Where this warp's part begins.
  static WEFT_DEVICE int Row() { return Thread() / 128 * 64; }
  static WEFT_DEVICE int Column() { return Thread() / 32 % 4 * 32; }

  static WEFT_DEVICE void Load(const TileOperand<T>& from, int64_t depth, int64_t inner, T* tile) {
    for (int pack = Thread(); pack < kPacks; pack += kSide * kSide) {
      const int t = from.along_inner ? pack / (kDepth / 8) : pack % (kSize / 8) * 8;
      const int d = from.along_inner ? pack % (kDepth / 8) * 8 : pack / (kSize / 8);
      const int64_t left_of_t = from.count - t, left_of_d = inner - depth - d;
      const bool inside = left_of_t > 0 && left_of_d > 0;
      const int64_t at = from.along_inner ? t * from.stride + depth + d : (depth + d) * from.stride + t;
      *reinterpret_cast<Pack<T>*>(tile + (from.along_inner ? t * kInnerStride + d : d * kOuterStride + t)) =
          LoadPack<8>(from.first + (inside ? at : 0), inside ? (from.along_inner ? left_of_d : left_of_t) : 0);
    }
  }

  WEFT_DEVICE void Multiply(int k, const T* left, bool left_along_inner, const T* right, bool right_along_inner) {
    const int lane = Thread() % 32, row = Row(), column = Column();
    MatrixA a[4];
    for (int m = 0; m < 4; ++m) {
      if (left_along_inner) {
        LoadMatrices(a[m].words, left + (row + 16 * m + lane % 16) * kInnerStride + k + lane / 16 * 8);
      } else {
        LoadTransposed(a[m].words,
                       left + (k + lane % 8 + lane / 16 * 8) * kOuterStride + row + 16 * m + lane / 8 % 2 * 8);
      }
    }
    for (int n = 0; n < 4; n += 2) {
      uint32_t b[4];
      if (right_along_inner) {
        LoadMatrices(b, right + (column + 8 * n + lane % 8 + lane / 16 * 8) * kInnerStride + k + lane / 8 % 2 * 8);
      } else {
        LoadTransposed(b, right + (k + lane % 16) * kOuterStride + column + 8 * n + lane / 16 * 8);
      }
      for (int m = 0; m < 4; ++m) {
        MultiplyAdd<T>(sum[m][n], a[m], {{b[0], b[1]}});
        MultiplyAdd<T>(sum[m][n + 1], a[m], {{b[2], b[3]}});
      }
    }
  }
};

template <typename T>
struct TileFor {
  using Type = MatrixTile<T>;
};
template <>
struct TileFor<float> {
  using Type = FloatTile;
};

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CUDA_CODE_TILE_H_
