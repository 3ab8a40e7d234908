// The gradient of the bias of attention, by plain arithmetic. Part of cuda.cu.
#ifndef WEFT_OPS_ATTENTION_CUDA_CODE_BIAS_H_
#define WEFT_OPS_ATTENTION_CUDA_CODE_BIAS_H_

#include "ops/attention/cuda_code_plain.h"

namespace weft::attention::plain {

// The part of the bias that a block makes: one index of batch and heads, and a tile of rows and of keys, from 0 where
// the bias has one row or key for all.
struct BiasPlace {
  int batch, head, row, key;
};
WEFT_DEVICE BiasPlace BiasPlaceOf(const AttentionArguments& args, int side, int step) {
  const auto& dims = args.bias.dims;
  const int row_tiles = (dims[2] + side - 1) / side, key_tiles = (dims[3] + step - 1) / step;
  int index = static_cast<int>(blockIdx.x);
  BiasPlace place;
  place.key = index % key_tiles * step;
  index /= key_tiles;
  place.row = index % row_tiles * side;
  index /= row_tiles;
  place.head = index % dims[1];
  place.batch = index / dims[1];
  return place;
}

// Adds to `sums` the ds of one query head, of a tile of rows and one of keys.
template <typename T, int kDepth, int kI, int kJ>
WEFT_DEVICE void AddScoreGradients(const AttentionArguments& args, int batch, int head, int first, int key,
                                   float* shared, float (&sums)[kI][kJ]) {
  using S = Shape<kDepth>;
  float* q = shared;
  float* dout = q + S::kSide * S::kStride;
  float* k = dout + S::kSide * S::kStride;
  float* v = k + S::kStep * S::kStride;
  float* deltas = v + S::kStep * S::kStride;
  const int64_t at = QueryOffset(args, batch, head), out_at = OutOffset(args, batch, head);
  const int64_t rows_at = RowOffset(args, batch, head);
  const int64_t key_at = KeyOffset(args, batch, head / (args.query_heads / args.key_heads));
  __syncthreads();  // the last tiles have been used
  LoadTile<S::kSide, kDepth>(static_cast<const T*>(args.q) + at, QueryStride(args), first, args.queries, args.depth, q);
  LoadTile<S::kSide, kDepth>(static_cast<const T*>(args.dout) + out_at, OutStride(args), first, args.queries,
                             args.depth, dout);
  LoadTile<S::kStep, kDepth>(static_cast<const T*>(args.k) + key_at, KeyStride(args), key, args.keys, args.depth, k);
  LoadTile<S::kStep, kDepth>(static_cast<const T*>(args.v) + key_at, KeyStride(args), key, args.keys, args.depth, v);
  __syncthreads();
  RowDots<T, kDepth>(args, static_cast<const T*>(args.out) + out_at, dout, first,
                     [&](int row, float delta) { deltas[row - first] = delta; });
  __syncwarp();  // a row's delta is written and read by one half of a warp
  float s[kI][kJ], dp[kI][kJ];
  Products<kDepth>(q, k, s);
  Products<kDepth>(dout, v, dp);
  ScoreGradients<true>(
      args, HeadScores(args, batch, head), rows_at, first, key, [&](int row) { return deltas[row - first]; }, s, dp);
#pragma unroll
  for (int i = 0; i < kI; ++i) {
#pragma unroll
    for (int j = 0; j < kJ; ++j) sums[i][j] += dp[i][j];
  }
}

// dbias, summed over the dims of the scores that the bias lacks: the batch, then heads, rows and keys, in order.
template <typename T, int kDepth>
WEFT_DEVICE void BiasGradient(const AttentionArguments& args) {
  using S = Shape<kDepth>;
  constexpr int kI = S::kSide / 16, kJ = S::kStep / 16, kWidth = S::kStep + kPlainPad;
  float* shared = DynamicShared<float>();
  const auto& dims = args.bias.dims;
  const BiasPlace place = BiasPlaceOf(args, S::kSide, S::kStep);
  const int row_end = dims[2] == 1 ? args.queries : min(place.row + S::kSide, args.queries);
  const int key_end = dims[3] == 1 ? args.keys : min(place.key + S::kStep, args.keys);
  float sums[kI][kJ] = {};
  for (int batch = place.batch; batch < args.batch; batch += dims[0]) {
    for (int head = place.head; head < args.query_heads; head += dims[1]) {
      for (int first = place.row; first < row_end; first += S::kSide) {
        for (int key = place.key; key < key_end; key += S::kStep) {
          AddScoreGradients<T, kDepth>(args, batch, head, first, key, shared, sums);
        }
      }
    }
  }

  float* tile = shared;
  __syncthreads();  // the last tiles have been used
#pragma unroll
  for (int i = 0; i < kI; ++i) {
#pragma unroll
    for (int j = 0; j < kJ; ++j) tile[(Ty() + 16 * i) * kWidth + Tx() + 16 * j] = sums[i][j];
  }
  __syncthreads();
  // What each element of the bias has of the tile: one number, a column, a row, or all of it.
  const int rows = dims[2] == 1 ? 1 : S::kSide, keys = dims[3] == 1 ? 1 : S::kStep;
  float* dbias = args.dbias + (int64_t{place.batch} * dims[1] + place.head) * dims[2] * dims[3];
  for (int at = static_cast<int>(threadIdx.x); at < rows * keys; at += kPlainThreads) {
    const int row = at / keys, key = at % keys;
    if (place.row + row >= dims[2] || place.key + key >= dims[3]) continue;
    float sum = 0;
    for (int i = row; i < S::kSide; i += rows) {
      for (int j = key; j < S::kStep; j += keys) sum += tile[i * kWidth + j];
    }
    dbias[int64_t{place.row + row} * dims[3] + place.key + key] = sum;
  }
}

}  // namespace weft::attention::plain

#endif  // WEFT_OPS_ATTENTION_CUDA_CODE_BIAS_H_
