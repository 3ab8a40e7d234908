// Attention of bf16 and f16 by matrix instructions. Part of cuda.cu. What kAdjusted is, cuda_code_plain.h says.
#ifndef WEFT_OPS_ATTENTION_CUDA_CODE_TENSOR_H_
#define WEFT_OPS_ATTENTION_CUDA_CODE_TENSOR_H_

#include "ops/attention/cuda_code_tile.h"

namespace weft::attention::tensor {

// Adds to the scores, not yet scaled, of rows from `row` and keys from `key`; `inverse` is that of the scale.
template <typename S>
WEFT_DEVICE void AddToScores(const AttentionArguments& args, const HeadScores& scores, int row, int key, float inverse,
                             Sums<S::kTiles, S::kSteps>& s) {
#pragma unroll
  for (int m = 0; m < S::kTiles; ++m) {
#pragma unroll
    for (int n = 0; n < S::kSteps; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        s[m][n].values[i] += scores.Added(args, row + 16 * m + RowOf(i), key + 8 * n + ColumnOf(i)) * inverse;
      }
    }
  }
}

// The log sum of a row times log2 e; 0 where it sees no key, as all its scores are -infinity.
template <bool kAdjusted>
WEFT_DEVICE float ShiftOf(float lse) {
  return kAdjusted && lse == -INFINITY ? 0.0f : lse * kLog2E;
}

// out = softmax(scale q k^T) v for a tile of query rows, keys in tiles with a running maximum.
template <typename T, int kDepth, bool kAdjusted>
WEFT_DEVICE void Forward(const AttentionArguments& args) {
  using S = Shape<T, kDepth, ForwardTile(kDepth)>;
  T* q = DynamicShared<T>();
  T* steps = q + S::kSide * kDepth;  // two times k and v
  const Place place = QueryPlace(args, S::kSide);
  const int first = place.tile * S::kSide, row = Warp() * 16 * S::kTiles;
  const int64_t at = QueryOffset(args, place.batch, place.head);
  const int64_t key_at = KeyOffset(args, place.batch, place.head / (args.query_heads / args.key_heads));
  const int limit = LimitOf(args, min(first + S::kSide, args.queries) - 1);
  const auto load_step = [&](int key, int stage) {
    T* k = steps + stage * 2 * S::kStep * kDepth;
    const T* keys = static_cast<const T*>(args.k) + key_at;
    const T* values = static_cast<const T*>(args.v) + key_at;
    LoadTile<S, S::kStep>(keys, KeyStride(args), key, limit, args.depth, k);
    LoadTile<S, S::kStep>(values, KeyStride(args), key, limit, args.depth, k + S::kStep * kDepth);
    CommitCopies();
  };
  LoadTile<S, S::kSide>(static_cast<const T*>(args.q) + at, QueryStride(args), first, args.queries, args.depth, q);
  const int begin = kAdjusted ? BeginOf(args, first) / S::kStep * S::kStep : 0;
  load_step(begin, 0);

  const HeadScores scores(args, place.batch, place.head);
  const float scale = args.scale * kLog2E;
  Sums<S::kTiles, S::kPacks> o;
  Clear(o);
  Running<S::kTiles> running;
#pragma unroll
  for (int m = 0; m < S::kTiles; ++m) {
    running.largest[m][0] = running.largest[m][1] = -INFINITY;
    running.sum[m][0] = running.sum[m][1] = 0;
  }
  // The fewest and the most keys that a row of this warp sees.
  const int fewest = LimitOf(args, first + row), most = LimitOf(args, first + row + 16 * S::kTiles - 1);
  for (int key = begin, stage = 0; key < limit; key += S::kStep, stage ^= 1) {
    WaitCopies<0>();
    __syncthreads();  // this step is there, and nobody uses the last one any more
    if (key + S::kStep < limit) load_step(key + S::kStep, stage ^ 1);
    if (key >= most) continue;
    const T* k = steps + stage * 2 * S::kStep * kDepth;
    Sums<S::kTiles, S::kSteps> s;
    Products<S>(q, row, k, s);
    const auto valid = [&](int m, int i) { return LimitOf(args, first + row + 16 * m + RowOf(i)) - key; };
    if constexpr (kAdjusted) AddToScores<S>(args, scores, first + row, key, 1.0f / args.scale, s);
    SoftmaxStep<S>(s, scale, !kAdjusted && key + S::kStep > fewest, valid, running, o);
    Accumulate<S>(s, k + S::kStep * kDepth, o);
  }

  float factor[S::kTiles][2];
#pragma unroll
  for (int m = 0; m < S::kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = RowReduce<Sum>(running.sum[m][r]);
      factor[m][r] = sum == 0 ? 0.0f : 1.0f / sum;
      const int i = first + row + 16 * m + RowOf(2 * r);
      if (args.lse != nullptr && Lane() % 4 == 0 && i < args.queries) {
        args.lse[RowOffset(args, place.batch, place.head) + i] = running.largest[m][r] * kLn2 + logf(sum);
      }
    }
  }
  WaitCopies<0>();  // of q, where no key is seen
  __syncthreads();
  StoreRows<S>(
      o, [&](int m, int i) { return factor[m][i / 2]; }, q, row,
      static_cast<T*>(args.out) + OutOffset(args, place.batch, place.head), OutStride(args), first, args.queries,
      args.depth);
}

// delta[i] = row i of dout . row i of out, for the block's rows, to shared memory and for the gradient of keys.
template <typename S>
WEFT_DEVICE void RowDots(const AttentionArguments& args, int64_t out_at, int64_t rows_at, int first, float* delta) {
  using T = typename S::T;
  static_assert(S::kSide * S::kPacks % S::kThreads == 0 && 32 % S::kPacks == 0);
  for (int i = static_cast<int>(threadIdx.x); i < S::kSide * S::kPacks; i += S::kThreads) {
    const int local = i / S::kPacks, row = first + local, pack = i % S::kPacks;
    float sum = 0;
    if (row < args.queries && pack * 8 < args.depth) {
      const int64_t offset = out_at + row * OutStride(args) + pack * 8;
      const Pack<T> dout = *reinterpret_cast<const Pack<T>*>(static_cast<const T*>(args.dout) + offset);
      const Pack<T> out = *reinterpret_cast<const Pack<T>*>(static_cast<const T*>(args.out) + offset);
#pragma unroll
      for (int e = 0; e < 8; ++e) sum += Widen(dout[e]) * Widen(out[e]);
    }
#pragma unroll
    for (int lanes = S::kPacks / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (pack != 0) continue;
    delta[local] = sum;
    if (row < args.queries) args.delta[rows_at + row] = sum;
  }
}

// delta = rowsum(dout * out) and dq = scale ds k for a tile of query rows.
template <typename T, int kDepth, bool kAdjusted>
WEFT_DEVICE void QueryGradient(const AttentionArguments& args) {
  using S = Shape<T, kDepth, QueryGradientTile(kDepth)>;
  T* q = DynamicShared<T>();
  T* dout = q + S::kSide * kDepth;
  T* steps = dout + S::kSide * kDepth;  // two times k and v
  float* deltas = reinterpret_cast<float*>(steps + 4 * S::kStep * kDepth);
  const Place place = QueryPlace(args, S::kSide);
  const int first = place.tile * S::kSide, row = Warp() * 16 * S::kTiles;
  const int64_t at = QueryOffset(args, place.batch, place.head), stride = QueryStride(args);
  const int64_t rows_at = RowOffset(args, place.batch, place.head), out_at = OutOffset(args, place.batch, place.head);
  const int64_t key_at = KeyOffset(args, place.batch, place.head / (args.query_heads / args.key_heads));
  const int limit = LimitOf(args, min(first + S::kSide, args.queries) - 1);
  const auto load_step = [&](int key, int stage) {
    T* k = steps + stage * 2 * S::kStep * kDepth;
    const T* keys = static_cast<const T*>(args.k) + key_at;
    const T* values = static_cast<const T*>(args.v) + key_at;
    LoadTile<S, S::kStep>(keys, KeyStride(args), key, limit, args.depth, k);
    LoadTile<S, S::kStep>(values, KeyStride(args), key, limit, args.depth, k + S::kStep * kDepth);
    CommitCopies();
  };
  LoadTile<S, S::kSide>(static_cast<const T*>(args.q) + at, stride, first, args.queries, args.depth, q);
  LoadTile<S, S::kSide>(static_cast<const T*>(args.dout) + out_at, OutStride(args), first, args.queries, args.depth,
                        dout);
  const int begin = kAdjusted ? BeginOf(args, first) / S::kStep * S::kStep : 0;
  load_step(begin, 0);
  RowDots<S>(args, out_at, rows_at, first, deltas);
  __syncthreads();

  const float scale = args.scale * kLog2E;
  float lse[S::kTiles][2], delta[S::kTiles][2];  // lse times log2 e
#pragma unroll
  for (int m = 0; m < S::kTiles; ++m) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int local = row + 16 * m + RowOf(2 * r);
      lse[m][r] = first + local < args.queries ? ShiftOf<kAdjusted>(args.lse[rows_at + first + local]) : 0.0f;
      delta[m][r] = deltas[local];
    }
  }
  Sums<S::kTiles, S::kPacks> dq;
  Clear(dq);
  const HeadScores scores(args, place.batch, place.head);
  const int fewest = LimitOf(args, first + row), most = LimitOf(args, first + row + 16 * S::kTiles - 1);
  for (int key = begin, stage = 0; key < limit; key += S::kStep, stage ^= 1) {
    WaitCopies<0>();
    __syncthreads();  // this step is there, and nobody uses the last one any more
    if (key + S::kStep < limit) load_step(key + S::kStep, stage ^ 1);
    if (key >= most) continue;
    const T* k = steps + stage * 2 * S::kStep * kDepth;
    const bool masked = !kAdjusted && key + S::kStep > fewest;
    Sums<S::kTiles, S::kSteps> s, ds;
    Products<S>(q, row, k, s);
    Products<S>(dout, row, k + S::kStep * kDepth, ds);
    if constexpr (kAdjusted) AddToScores<S>(args, scores, first + row, key, 1.0f / args.scale, s);
#pragma unroll
    for (int m = 0; m < S::kTiles; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int end = masked ? LimitOf(args, first + row + 16 * m + RowOf(i)) - key : S::kStep;
#pragma unroll
        for (int n = 0; n < S::kSteps; ++n) {
          const float p = FastExp2(s[m][n].values[i] * scale - lse[m][i / 2]);
          float& it = ds[m][n].values[i];
          it = 8 * n + ColumnOf(i) < end ? p * (it - delta[m][i / 2]) : 0.0f;
        }
      }
    }
    Accumulate<S>(ds, k, dq);
  }
  WaitCopies<0>();  // of q, where no key is seen
  __syncthreads();
  StoreRows<S>(
      dq, [&](int, int) { return args.scale; }, q, row, static_cast<T*>(args.dq) + at, stride, first, args.queries,
      args.depth);
}

// A step of the gradient of keys in shared memory, of which there are two.
template <typename S>
struct QueryStep {
  typename S::T* q;
  typename S::T* dout;
  float* lse;
  float* delta;

  WEFT_DEVICE QueryStep(typename S::T* tiles, int stage) {
    constexpr int kTileSize = S::kStep * S::kDepth;
    q = tiles + stage * 2 * kTileSize;
    dout = q + kTileSize;
    lse = reinterpret_cast<float*>(tiles + 4 * kTileSize) + stage * 2 * S::kStep;
    delta = lse + S::kStep;
  }

  WEFT_DEVICE void Load(const AttentionArguments& args, int batch, int head, int first) const {
    using T = typename S::T;
    const int64_t at = QueryOffset(args, batch, head), out_at = OutOffset(args, batch, head);
    const int64_t rows_at = RowOffset(args, batch, head), stride = QueryStride(args);
    LoadTile<S, S::kStep>(static_cast<const T*>(args.q) + at, stride, first, args.queries, args.depth, q);
    LoadTile<S, S::kStep>(static_cast<const T*>(args.dout) + out_at, OutStride(args), first, args.queries, args.depth,
                          dout);
    static_assert(2 * S::kStep <= S::kThreads);
    const int i = static_cast<int>(threadIdx.x);
    if (i < 2 * S::kStep) {
      const int row = first + i % S::kStep;
      const float* from = (i < S::kStep ? args.lse : args.delta) + rows_at;
      CopyAsync<4>(lse + i, row < args.queries ? from + row : from, row < args.queries);
    }
    CommitCopies();
  }
};

// dv = p^T dout and dk = scale ds^T q for a tile of keys, over all query heads that read them.
template <typename T, int kDepth, bool kAdjusted>
WEFT_DEVICE void KeyGradient(const AttentionArguments& args) {
  using S = Shape<T, kDepth, KeyGradientTile(kDepth)>;
  T* k = DynamicShared<T>();
  T* v = k + S::kSide * kDepth;
  T* steps = v + S::kSide * kDepth;
  const Place place = PlaceOf(args, args.key_heads);
  const int key = place.tile * S::kSide, row = Warp() * 16 * S::kTiles, group = args.query_heads / args.key_heads;
  const int64_t key_at = KeyOffset(args, place.batch, place.head);
  const int begin = FirstRowSeeing(args, key) / S::kStep * S::kStep;
  const int end = kAdjusted ? EndOfRowsSeeing(args, min(key + S::kSide, args.keys) - 1) : args.queries;
  const int a_head = max(0, (end - begin + S::kStep - 1) / S::kStep), count = group * a_head;
  const auto load_step = [&](int step) {
    QueryStep<S>(steps, step % 2)
        .Load(args, place.batch, place.head * group + step / a_head, begin + step % a_head * S::kStep);
  };
  LoadTile<S, S::kSide>(static_cast<const T*>(args.k) + key_at, KeyStride(args), key, args.keys, args.depth, k);
  LoadTile<S, S::kSide>(static_cast<const T*>(args.v) + key_at, KeyStride(args), key, args.keys, args.depth, v);
  if (count > 0) load_step(0);

  const float scale = args.scale * kLog2E;
  Sums<S::kTiles, S::kPacks> dk, dv;
  Clear(dk);
  Clear(dv);
  for (int step = 0; step < count; ++step) {
    WaitCopies<0>();
    __syncthreads();  // this step is there, and nobody uses the last one any more
    if (step + 1 < count) load_step(step + 1);
    const int first = begin + step % a_head * S::kStep;
    if (key + row >= LimitOf(args, min(first + S::kStep, args.queries) - 1)) continue;  // nobody sees this warp's keys
    const bool masked = first + S::kStep > args.queries || key + row + 16 * S::kTiles > LimitOf(args, first);
    const QueryStep<S> at(steps, step % 2);
    const HeadScores scores(args, place.batch, place.head * group + step / a_head);
    Sums<S::kTiles, S::kSteps> p, ds;
    Products<S>(k, row, at.q, p);
    Products<S>(v, row, at.dout, ds);
#pragma unroll
    for (int n = 0; n < S::kSteps; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int column = 8 * n + ColumnOf(i), query = first + column;
        const float lse = ShiftOf<kAdjusted>(at.lse[column]), delta = at.delta[column];
        const int limit = !masked ? args.keys : query < args.queries ? LimitOf(args, query) : 0;
#pragma unroll
        for (int m = 0; m < S::kTiles; ++m) {
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            float& weight = p[m][n].values[2 * r + i];
            float& it = ds[m][n].values[2 * r + i];
            const int seen = key + row + 16 * m + RowOf(2 * r);
            if constexpr (kAdjusted) {
              weight = FastExp2(weight * scale + scores.Added(args, query, seen) * kLog2E - lse);
              it = weight * (it - delta);
            } else {
              const bool sees = !masked || seen < limit;
              weight = sees ? FastExp2(weight * scale - lse) : 0.0f;
              it = sees ? weight * (it - delta) : 0.0f;
            }
          }
        }
      }
    }
    Accumulate<S>(p, at.dout, dv);
    Accumulate<S>(ds, at.q, dk);
  }
  WaitCopies<0>();  // of k and v, where nobody sees them
  __syncthreads();
  StoreRows<S>(
      dk, [&](int, int) { return args.scale; }, k, row, static_cast<T*>(args.dk) + key_at, KeyStride(args), key,
      args.keys, args.depth);
  StoreRows<S>(
      dv, [&](int, int) { return 1.0f; }, v, row, static_cast<T*>(args.dv) + key_at, KeyStride(args), key, args.keys,
      args.depth);
}

}  // namespace weft::attention::tensor

#endif  // WEFT_OPS_ATTENTION_CUDA_CODE_TENSOR_H_
