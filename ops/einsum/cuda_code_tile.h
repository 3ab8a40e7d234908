// One tile of a matrix product by one block, in float, for operands of any strides and types.
#ifndef WEFT_OPS_EINSUM_CUDA_CODE_TILE_H_
#define WEFT_OPS_EINSUM_CUDA_CODE_TILE_H_

#include "ops/cuda/kernel.h"

namespace weft::gpu {

// A block of kSide x kSide threads sums a kTile x kTile tile; each thread (kTile / kSide)^2 elements, kSide apart, in
// registers. Tiles of both operands, kDepth deep, go through shared memory. Every element is one sum in ascending order
// of the inner index: deterministic. All threads of the block call Add() alike.
template <int kSide, int kTile, int kDepth>
struct TileProduct {
  static constexpr int kEach = kTile / kSide;
  static constexpr int kLoads = kTile * kDepth / (kSide * kSide);

  float sum[kEach][kEach] = {};

  // Adds left(t, d) * right(u, d) to element (t, u), for all d below `inner`. Both are asked for d below `inner` alone,
  // and give 0 for a t beyond their matrix. `along_inner`: neighbouring threads ask for neighbouring d, not t.
  template <typename Left, typename Right>
  WEFT_DEVICE void Add(int64_t inner, const Left& left, bool left_along_inner, const Right& right,
                       bool right_along_inner) {
    __shared__ float left_tile[kDepth][kTile + 1];
    __shared__ float right_tile[kDepth][kTile + 1];
    for (int64_t depth = 0; depth < inner; depth += kDepth) {
      Load(left, left_along_inner, depth, inner, left_tile);
      Load(right, right_along_inner, depth, inner, right_tile);
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
  template <typename Operand>
  static WEFT_DEVICE void Load(const Operand& operand, bool along_inner, int64_t depth, int64_t inner,
                               float (&tile)[kDepth][kTile + 1]) {
    const int thread = static_cast<int>(threadIdx.y * kSide + threadIdx.x);
    for (int load = 0; load < kLoads; ++load) {
      const int at = thread + load * kSide * kSide;
      const int d = along_inner ? at % kDepth : at / kTile, t = along_inner ? at / kDepth : at % kTile;
      tile[d][t] = depth + d < inner ? operand(t, depth + d) : 0.0f;
    }
  }
};

}  // namespace weft::gpu

#endif  // WEFT_OPS_EINSUM_CUDA_CODE_TILE_H_
