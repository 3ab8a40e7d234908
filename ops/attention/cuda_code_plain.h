// Attention by plain arithmetic in float, for any type and head size. Part of cuda.cu.
//
// Where kAdjusted, scores have a bias, a mask or a window. These are kernels of their own, so that those without keep
// their registers.
//
// A block is 16 x 16 threads (tx, ty). Of a tile of rows by columns, thread (tx, ty) has the
// rows ty + 16 i and the columns tx + 16 j; of a tile of rows by depth, the rows ty + 16 i and
// packs of kPack columns, 16 packs apart. The 16 threads of a row are half a warp.
#ifndef WEFT_OPS_ATTENTION_CUDA_CODE_PLAIN_H_
#define WEFT_OPS_ATTENTION_CUDA_CODE_PLAIN_H_

#include "ops/attention/cuda_code_place.h"
#include "ops/cuda/reduce.h"

namespace weft::attention::plain {

template <int kDepth>
struct Shape {
  static constexpr int kSide = PlainSide(kDepth);
  static constexpr int kStep = PlainStep(kDepth);
  static constexpr int kStride = kDepth + kPlainPad;
  static constexpr int kColumns = kDepth / 16;  // of a row, that a thread has
  static constexpr int kPack = kColumns < 4 ? kColumns : 4;
};

WEFT_DEVICE int Tx() { return static_cast<int>(threadIdx.x % 16); }
WEFT_DEVICE int Ty() { return static_cast<int>(threadIdx.x / 16); }

// Of a thread's element c of a row.
template <int kDepth>
WEFT_DEVICE int ColumnOf(int c) {
  constexpr int kPack = Shape<kDepth>::kPack;
  return c / kPack * 16 * kPack + Tx() * kPack + c % kPack;
}

template <typename Op>
WEFT_DEVICE float RowReduce(float value) {
#pragma unroll
  for (int lanes = 8; lanes > 0; lanes /= 2) value = Op::Of(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  return value;
}

// kRows rows from row `first`, of `count`, as floats; zeros beyond them and beyond `depth`.
template <int kRows, int kDepth, typename T>
WEFT_DEVICE void LoadTile(const T* head, int64_t stride, int first, int count, int depth, float* tile) {
  constexpr int kPack = Pack<T>::kSize, kPacks = kDepth / kPack;
  for (int i = static_cast<int>(threadIdx.x); i < kRows * kPacks; i += kPlainThreads) {
    const int row = i / kPacks, column = i % kPacks * kPack;
    const int here = first + row < count ? depth - column : 0;
    const Pack<T> pack = LoadPack<kPack>(head + (first + row) * stride + column, here);
    float* to = tile + row * Shape<kDepth>::kStride + column;
#pragma unroll
    for (int e = 0; e < kPack; ++e) to[e] = Widen(pack[e]);
  }
}

// sums[i][j] = row ty + 16 i of `left` . row tx + 16 j of `right`.
template <int kDepth, int kI, int kJ>
WEFT_DEVICE void Products(const float* left, const float* right, float (&sums)[kI][kJ]) {
  constexpr int kStride = Shape<kDepth>::kStride;
#pragma unroll
  for (int i = 0; i < kI; ++i) {
#pragma unroll
    for (int j = 0; j < kJ; ++j) sums[i][j] = 0;
  }
#pragma unroll 4
  for (int c = 0; c < kDepth; c += 4) {
    Pack<float> l[kI], r[kJ];
#pragma unroll
    for (int i = 0; i < kI; ++i) l[i] = *reinterpret_cast<const Pack<float>*>(left + (Ty() + 16 * i) * kStride + c);
#pragma unroll
    for (int j = 0; j < kJ; ++j) r[j] = *reinterpret_cast<const Pack<float>*>(right + (Tx() + 16 * j) * kStride + c);
#pragma unroll
    for (int i = 0; i < kI; ++i) {
#pragma unroll
      for (int j = 0; j < kJ; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j] += l[i][e] * r[j][e];
      }
    }
  }
}

// sums[i][c] += sum over k < kInner of weights[(ty + 16 i) row_stride + k inner_stride] times row k of `rows`.
template <int kDepth, int kInner, int kI, int kC>
WEFT_DEVICE void Accumulate(const float* weights, int row_stride, int inner_stride, const float* rows,
                            float (&sums)[kI][kC]) {
  constexpr int kPack = Shape<kDepth>::kPack;
#pragma unroll 4
  for (int k = 0; k < kInner; ++k) {
    float w[kI];
#pragma unroll
    for (int i = 0; i < kI; ++i) w[i] = weights[(Ty() + 16 * i) * row_stride + k * inner_stride];
#pragma unroll
    for (int c = 0; c < kC; c += kPack) {
      const auto pack =
          *reinterpret_cast<const Pack<float, kPack>*>(rows + k * Shape<kDepth>::kStride + ColumnOf<kDepth>(c));
#pragma unroll
      for (int i = 0; i < kI; ++i) {
#pragma unroll
        for (int e = 0; e < kPack; ++e) sums[i][c + e] += w[i] * pack[e];
      }
    }
  }
}

// Rows ty + 16 i from row `first`, those below `count`, times factor[i].
template <int kDepth, typename T, int kI, int kC>
WEFT_DEVICE void StoreRows(const float (&sums)[kI][kC], const float (&factor)[kI], T* head, int64_t stride, int first,
                           int count, int depth) {
  constexpr int kPack = Shape<kDepth>::kPack;
#pragma unroll
  for (int i = 0; i < kI; ++i) {
    const int row = first + Ty() + 16 * i;
    if (row >= count) continue;
#pragma unroll
    for (int c = 0; c < kC; c += kPack) {
      Pack<T, kPack> pack;
#pragma unroll
      for (int e = 0; e < kPack; ++e) pack[e] = Narrow<T>(sums[i][c + e] * factor[i]);
      const int column = ColumnOf<kDepth>(c);
      StorePack<kPack>(head + row * stride + column, pack, depth - column);
    }
  }
}

// out = softmax(scale q k^T) v for a tile of query rows, keys in tiles with a running maximum.
template <typename T, int kDepth, bool kAdjusted>
WEFT_DEVICE void Forward(const AttentionArguments& args) {
  using S = Shape<kDepth>;
  constexpr int kSide = S::kSide, kEach = kSide / 16, kWeights = kSide + kPlainPad;
  float* q = DynamicShared<float>();
  float* k = q + kSide * S::kStride;
  float* v = k + kSide * S::kStride;
  float* p = v + kSide * S::kStride;
  const Place place = QueryPlace(args, kSide);
  const int first = place.tile * kSide, key_head = place.head / (args.query_heads / args.key_heads);
  const int64_t at = QueryOffset(args, place.batch, place.head), key_at = KeyOffset(args, place.batch, key_head);
  LoadTile<kSide, kDepth>(static_cast<const T*>(args.q) + at, QueryStride(args), first, args.queries, args.depth, q);

  const float scale = args.scale * kLog2E;
  float o[kEach][S::kColumns] = {}, largest[kEach], sum[kEach] = {};
  for (float& it : largest) it = -INFINITY;
  const HeadScores scores(args, place.batch, place.head);
  const int limit = LimitOf(args, min(first + kSide, args.queries) - 1);
  for (int key = kAdjusted ? BeginOf(args, first) / kSide * kSide : 0; key < limit; key += kSide) {
    __syncthreads();  // the last tile has been used
    const int64_t stride = KeyStride(args);
    LoadTile<kSide, kDepth>(static_cast<const T*>(args.k) + key_at, stride, key, limit, args.depth, k);
    LoadTile<kSide, kDepth>(static_cast<const T*>(args.v) + key_at, stride, key, limit, args.depth, v);
    __syncthreads();
    float s[kEach][kEach];
    Products<kDepth>(q, k, s);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const int row = first + Ty() + 16 * i, valid = LimitOf(args, row) - key;
      float now = -INFINITY;
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const int column = Tx() + 16 * j;
        if constexpr (kAdjusted) {
          s[i][j] = s[i][j] * scale + scores.Added(args, row, key + column) * kLog2E;
        } else {
          s[i][j] = column < valid ? s[i][j] * scale : -INFINITY;
        }
        now = Max::Of(now, s[i][j]);
      }
      now = Max::Of(largest[i], RowReduce<Max>(now));
      const float shift = now == -INFINITY ? 0.0f : now, shrink = exp2f(largest[i] - shift);
      largest[i] = now;
      sum[i] *= shrink;
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const float weight = exp2f(s[i][j] - shift);
        sum[i] += weight;
        p[(Ty() + 16 * i) * kWeights + Tx() + 16 * j] = weight;
      }
#pragma unroll
      for (float& it : o[i]) it *= shrink;
    }
    __syncwarp();  // a row of p is written and read by one half of a warp
    Accumulate<kDepth, kSide>(p, kWeights, 1, v, o);
  }

  float factor[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    sum[i] = RowReduce<Sum>(sum[i]);
    factor[i] = sum[i] == 0 ? 0.0f : 1.0f / sum[i];
    const int row = first + Ty() + 16 * i;
    if (args.lse != nullptr && Tx() == 0 && row < args.queries) {
      args.lse[RowOffset(args, place.batch, place.head) + row] = largest[i] * kLn2 + logf(sum[i]);
    }
  }
  T* const out = static_cast<T*>(args.out) + OutOffset(args, place.batch, place.head);
  StoreRows<kDepth>(o, factor, out, OutStride(args), first, args.queries, args.depth);
}

// The p and ds of a thread's elements, from the scores and dp, and delta(row); zeros where a row does not see a key.
template <bool kAdjusted, int kI, int kJ, typename Delta>
WEFT_DEVICE void ScoreGradients(const AttentionArguments& args, const HeadScores& scores, int64_t rows_at, int first,
                                int key, const Delta& delta_of, float (&s)[kI][kJ], float (&dp)[kI][kJ]) {
#pragma unroll
  for (int i = 0; i < kI; ++i) {
    const int row = first + Ty() + 16 * i;
    const int valid = row < args.queries ? LimitOf(args, row) - key : 0;
    float lse = row < args.queries ? args.lse[rows_at + row] : 0.0f;
    const float delta = row < args.queries ? delta_of(row) : 0.0f;
    if (kAdjusted && lse == -INFINITY) lse = 0;  // no key is seen: every score is -infinity
#pragma unroll
    for (int j = 0; j < kJ; ++j) {
      const int column = Tx() + 16 * j;
      if constexpr (kAdjusted) {
        s[i][j] = exp2f((s[i][j] * args.scale + scores.Added(args, row, key + column) - lse) * kLog2E);
        dp[i][j] = s[i][j] * (dp[i][j] - delta);
      } else {
        const bool sees = column < valid;
        s[i][j] = sees ? exp2f((s[i][j] * args.scale - lse) * kLog2E) : 0.0f;
        dp[i][j] = sees ? s[i][j] * (dp[i][j] - delta) : 0.0f;
      }
    }
  }
}

// delta[row] = rowsum(dout * out), of a tile of rows whose dout is in shared memory; `keep` is called once a row.
template <typename T, int kDepth, typename Keep>
WEFT_DEVICE void RowDots(const AttentionArguments& args, const T* out, const float* dout, int first, const Keep& keep) {
  using S = Shape<kDepth>;
#pragma unroll
  for (int i = 0; i < S::kSide / 16; ++i) {
    const int local = Ty() + 16 * i, row = first + local;
    float delta = 0;
    for (int c = Tx(); c < args.depth && row < args.queries; c += 16) {
      delta += Widen(out[row * OutStride(args) + c]) * dout[local * S::kStride + c];
    }
    delta = RowReduce<Sum>(delta);
    if (Tx() == 0 && row < args.queries) keep(row, delta);
  }
}

// delta = rowsum(dout * out) and dq = scale ds k for a tile of query rows.
template <typename T, int kDepth, bool kAdjusted>
WEFT_DEVICE void QueryGradient(const AttentionArguments& args) {
  using S = Shape<kDepth>;
  constexpr int kSide = S::kSide, kStep = S::kStep, kI = kSide / 16, kJ = kStep / 16, kWeights = kStep + kPlainPad;
  float* q = DynamicShared<float>();
  float* dout = q + kSide * S::kStride;
  float* k = dout + kSide * S::kStride;
  float* v = k + kStep * S::kStride;
  float* ds = v + kStep * S::kStride;
  const Place place = QueryPlace(args, kSide);
  const int first = place.tile * kSide, key_head = place.head / (args.query_heads / args.key_heads);
  const int64_t at = QueryOffset(args, place.batch, place.head), key_at = KeyOffset(args, place.batch, key_head);
  const int64_t rows_at = RowOffset(args, place.batch, place.head), stride = QueryStride(args);
  const int64_t out_at = OutOffset(args, place.batch, place.head);
  LoadTile<kSide, kDepth>(static_cast<const T*>(args.q) + at, stride, first, args.queries, args.depth, q);
  LoadTile<kSide, kDepth>(static_cast<const T*>(args.dout) + out_at, OutStride(args), first, args.queries, args.depth,
                          dout);
  __syncthreads();

  float* deltas = args.delta + rows_at;
  RowDots<T, kDepth>(args, static_cast<const T*>(args.out) + out_at, dout, first,
                     [&](int row, float delta) { deltas[row] = delta; });

  float dq[kI][S::kColumns] = {};
  const HeadScores scores(args, place.batch, place.head);
  const int limit = LimitOf(args, min(first + kSide, args.queries) - 1);
  for (int key = kAdjusted ? BeginOf(args, first) / kStep * kStep : 0; key < limit; key += kStep) {
    __syncthreads();  // the last tile has been used; delta is there
    const T* keys = static_cast<const T*>(args.k) + key_at;
    const T* values = static_cast<const T*>(args.v) + key_at;
    LoadTile<kStep, kDepth>(keys, KeyStride(args), key, limit, args.depth, k);
    LoadTile<kStep, kDepth>(values, KeyStride(args), key, limit, args.depth, v);
    __syncthreads();
    float s[kI][kJ], dp[kI][kJ];
    Products<kDepth>(q, k, s);
    Products<kDepth>(dout, v, dp);
    ScoreGradients<kAdjusted>(args, scores, rows_at, first, key, [&](int row) { return deltas[row]; }, s, dp);
#pragma unroll
    for (int i = 0; i < kI; ++i) {
#pragma unroll
      for (int j = 0; j < kJ; ++j) ds[(Ty() + 16 * i) * kWeights + Tx() + 16 * j] = dp[i][j];
    }
    __syncwarp();
    Accumulate<kDepth, kStep>(ds, kWeights, 1, k, dq);
  }
  float factor[kI];
  for (float& it : factor) it = args.scale;
  StoreRows<kDepth>(dq, factor, static_cast<T*>(args.dq) + at, stride, first, args.queries, args.depth);
}

// dv = p^T dout and dk = scale ds^T q for a tile of keys, over all query heads that read them.
template <typename T, int kDepth, bool kAdjusted>
WEFT_DEVICE void KeyGradient(const AttentionArguments& args) {
  using S = Shape<kDepth>;
  constexpr int kSide = S::kSide, kStep = S::kStep, kI = kStep / 16, kJ = kSide / 16, kWeights = kSide + kPlainPad;
  float* k = DynamicShared<float>();
  float* v = k + kSide * S::kStride;
  float* q = v + kSide * S::kStride;
  float* dout = q + kStep * S::kStride;
  float* p = dout + kStep * S::kStride;
  float* ds = p + kStep * kWeights;
  const Place place = PlaceOf(args, args.key_heads);
  const int key = place.tile * kSide, group = args.query_heads / args.key_heads;
  const int64_t key_at = KeyOffset(args, place.batch, place.head), stride = QueryStride(args);
  LoadTile<kSide, kDepth>(static_cast<const T*>(args.k) + key_at, KeyStride(args), key, args.keys, args.depth, k);
  LoadTile<kSide, kDepth>(static_cast<const T*>(args.v) + key_at, KeyStride(args), key, args.keys, args.depth, v);

  float dk[kJ][S::kColumns] = {}, dv[kJ][S::kColumns] = {};
  for (int head = place.head * group; head < (place.head + 1) * group; ++head) {
    const int64_t at = QueryOffset(args, place.batch, head), out_at = OutOffset(args, place.batch, head);
    const int64_t rows_at = RowOffset(args, place.batch, head);
    const HeadScores scores(args, place.batch, head);
    const int end = kAdjusted ? EndOfRowsSeeing(args, min(key + kSide, args.keys) - 1) : args.queries;
    for (int first = FirstRowSeeing(args, key) / kStep * kStep; first < end; first += kStep) {
      __syncthreads();  // the last tile has been used
      const T* queries = static_cast<const T*>(args.q) + at;
      LoadTile<kStep, kDepth>(queries, stride, first, args.queries, args.depth, q);
      LoadTile<kStep, kDepth>(static_cast<const T*>(args.dout) + out_at, OutStride(args), first, args.queries,
                              args.depth, dout);
      __syncthreads();
      float s[kI][kJ], dp[kI][kJ];
      Products<kDepth>(q, k, s);
      Products<kDepth>(dout, v, dp);
      ScoreGradients<kAdjusted>(
          args, scores, rows_at, first, key, [&](int row) { return args.delta[rows_at + row]; }, s, dp);
#pragma unroll
      for (int i = 0; i < kI; ++i) {
#pragma unroll
        for (int j = 0; j < kJ; ++j) {
          p[(Ty() + 16 * i) * kWeights + Tx() + 16 * j] = s[i][j];
          ds[(Ty() + 16 * i) * kWeights + Tx() + 16 * j] = dp[i][j];
        }
      }
      __syncthreads();
      Accumulate<kDepth, kStep>(p, 1, kWeights, dout, dv);
      Accumulate<kDepth, kStep>(ds, 1, kWeights, q, dk);
    }
  }
  float factor[kJ], one[kJ];
  for (float& it : factor) it = args.scale;
  for (float& it : one) it = 1;
  T* dk_head = static_cast<T*>(args.dk) + key_at;
  T* dv_head = static_cast<T*>(args.dv) + key_at;
  StoreRows<kDepth>(dk, factor, dk_head, KeyStride(args), key, args.keys, args.depth);
  StoreRows<kDepth>(dv, one, dv_head, KeyStride(args), key, args.keys, args.depth);
}

}  // namespace weft::attention::plain

#endif  // WEFT_OPS_ATTENTION_CUDA_CODE_PLAIN_H_
