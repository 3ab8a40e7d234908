// Compiled once a level of x86-64: WEFT_LEVEL is v3 or v4. Uses no function of
// the standard library and only internal ones of its own (see tile_gemm.h).
#include "ops/attention/head.h"

#include "ops/attention/head_parts.h"
#include "ops/math/vector_math.h"

namespace weft::attention::WEFT_LEVEL {
namespace {

// The running state of a block of query rows.
struct Running {
  float largest[kQueryBlock];
  float sum[kQueryBlock];
};

// Turns a row of scores into exponentials below the running maximum, zero from `valid` to
// `columns`, and scales what the row has summed so far. Takes the maximum and the sum over as many
// vectors as the row itself needs, whatever `columns` the rows beside it need.
void SoftmaxStep(float* __restrict scores, int64_t valid, int64_t columns, float* largest, float* sum,
                 float* __restrict accumulated, int64_t depth) {
  const int64_t used = RoundUp(valid, kWidth);
  for (int64_t j = used; j < columns; ++j) scores[j] = 0;
  if (valid == 0) return;
  for (int64_t j = valid; j < used; ++j) scores[j] = -__builtin_inff();
  const float before = *largest;
  const float block = Maximum(scores, used);
  const float now = block > before ? block : before;
  const float shift = now == -__builtin_inff() ? 0.0f : now;
  for (int64_t j = 0; j < used; ++j) scores[j] = ExpOrZero(scores[j] - shift);
  const float shrink = ExpOrZero(before - shift);
  *largest = now;
  *sum = *sum * shrink + Sum(scores, used);
  if (now != before) {
    for (int64_t c = 0; c < depth; ++c) accumulated[c] *= shrink;
  }
}

int64_t ForwardScratch(const HeadShape& shape) {
  return PackedKeys(shape) * shape.depth + (shape.keys + 2 * kQueryBlock) * PaddedDepth(shape) +
         kQueryBlock * kScoreStride + 128;
}

// One block of `rows` query rows from row `first`.
void ForwardBlock(const HeadShape& shape, const ForwardHead& head, int64_t first, int64_t rows, const float* packed_k,
                  const float* v, Pieces pieces) {
  const int64_t depth = shape.depth, padded = PaddedDepth(shape);
  float* q = pieces.Take(kQueryBlock * padded);
  float* sums = pieces.Take(kQueryBlock * padded);
  float* scores = pieces.Take(kQueryBlock * kScoreStride);
  CopyRows({head.q.data + first * head.q.stride, head.q.stride}, rows, depth, padded, shape.scale, q);
  Running running;
  for (int64_t i = 0; i < rows; ++i) {
    running.largest[i] = -__builtin_inff();
    running.sum[i] = 0;
  }
  for (int64_t i = 0; i < rows * padded; ++i) sums[i] = 0;
  const int64_t block_limit = shape.Limit(first + rows - 1);
  for (int64_t key = FirstBlock(shape, first); key < block_limit; key += kKeyBlock) {
    for (int64_t group = 0; group < rows; group += kRows) {
      const int count = static_cast<int>(Smaller(kRows, rows - group));
      const int64_t limit = SeenOfBlock(shape, first + group, count, key);
      if (limit == 0) continue;
      const int64_t columns = RoundUp(limit, kWidth);
      float* group_scores = scores + group * kScoreStride;
      Scores(count, columns, depth, q + group * padded, padded, packed_k, key, group_scores);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = first + group + i, valid = Larger(0, Smaller(kKeyBlock, shape.Limit(row) - key));
        AdjustScores(shape, head, row, key, valid, group_scores + i * kScoreStride);
        SoftmaxStep(group_scores + i * kScoreStride, valid, columns, &running.largest[group + i],
                    &running.sum[group + i], sums + (group + i) * padded, padded);
      }
      RowProduct(count, padded, limit, {group_scores, kScoreStride, 1}, v + key * padded, padded, sums + group * padded,
                 padded, true);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    const float factor = running.sum[i] == 0 ? 0.0f : 1.0f / running.sum[i];
    float* out = head.out.data + (first + i) * head.out.stride;
    for (int64_t c = 0; c < depth; ++c) out[c] = sums[i * padded + c] * factor;
    if (head.lse) head.lse[first + i] = running.largest[i] + Log(running.sum[i]);
  }
}

void Forward(const HeadShape& whole, const ForwardHead& head, int64_t begin, int64_t end, float* scratch) {
  Pieces pieces(scratch);
  HeadShape shape = whole;
  shape.keys = shape.seen = SeenByAny(whole, head.mask, begin, end);
  const int64_t padded = PaddedDepth(shape);
  float* packed_k = pieces.Take(PackedKeys(shape) * shape.depth);
  float* v = pieces.Take(shape.keys * padded);
  const int64_t seen = shape.keys;
  PackTransposed(head.k, seen, shape.depth, packed_k);
  CopyRows(head.v, seen, shape.depth, padded, 1.0f, v);
  for (int64_t first = begin; first < end; first += kQueryBlock) {
    ForwardBlock(shape, head, first, Smaller(kQueryBlock, end - first), packed_k, v, pieces);
  }
}

// What the backward pass holds of one key head.
struct KeySide {
  const float* packed_k;
  const float* packed_v;
  const float* k;  // [keys x padded depth], and so the next two
  float* dk;
  float* dv;
};

int64_t BackwardScratch(const HeadShape& shape) {
  return 2 * PackedKeys(shape) * shape.depth + (3 * shape.keys + 3 * kQueryBlock) * PaddedDepth(shape) +
         2 * kQueryBlock * kScoreStride + 256;
}

// p = exp(s - lse) and ds = p * (dp - delta) in place of s and dp; zero from `valid` to `columns`.
void ScoreGradient(float* __restrict s, float* __restrict dp, int64_t valid, int64_t columns, float lse, float delta) {
  const float shift = lse == -__builtin_inff() ? 0.0f : lse;  // where no key is seen, every score is -infinity
  for (int64_t j = 0; j < valid; ++j) {
    const float p = ExpOrZero(s[j] - shift);
    s[j] = p;
    dp[j] = p * (dp[j] - delta);
  }
  for (int64_t j = valid; j < columns; ++j) s[j] = dp[j] = 0;
}

// The query rows of one block that have seen any of the keys from `key`, from this one on.
int64_t FirstRowSeeing(const HeadShape& shape, int64_t first, int64_t rows, int64_t key) {
  const int64_t row = shape.causal ? Larger(shape.first_row, key + 1 - shape.first_limit) : shape.first_row;
  return Smaller(rows, Larger(0, row - first));
}

// What the backward pass holds of a block of query rows of one head; p and ds are those of a block of keys.
struct QuerySide {
  int64_t first, rows;
  float *q, *dout, *p, *ds;
  float delta[kQueryBlock];
};

QuerySide LoadQueries(const HeadShape& shape, const QueryGradient& head, int64_t first, int64_t rows, Pieces& pieces) {
  const int64_t depth = shape.depth, padded = PaddedDepth(shape);
  QuerySide block = {first,
                     rows,
                     pieces.Take(kQueryBlock * padded),
                     pieces.Take(kQueryBlock * padded),
                     pieces.Take(kQueryBlock * kScoreStride),
                     pieces.Take(kQueryBlock * kScoreStride),
                     {}};
  CopyRows({head.q.data + first * head.q.stride, head.q.stride}, rows, depth, padded, shape.scale, block.q);
  CopyRows({head.dout.data + first * head.dout.stride, head.dout.stride}, rows, depth, padded, 1.0f, block.dout);
  for (int64_t i = 0; i < rows; ++i) {
    block.delta[i] = Dot(head.out.data + (first + i) * head.out.stride, block.dout + i * padded, depth);
  }
  return block;
}

// Makes p and ds of the rows from `group` on, at most kRows, and the keys from `key`: zeros where a row does not see a
// key, up to `columns`. Yields how many of these keys the rows see, up to the last one.
int64_t GroupGradients(const HeadShape& shape, const KeySide& side, const QueryGradient& head, const QuerySide& block,
                       int64_t key, int64_t columns, int64_t group) {
  const int64_t depth = shape.depth, padded = PaddedDepth(shape);
  const int count = static_cast<int>(Smaller(kRows, block.rows - group));
  const int64_t limit = SeenOfBlock(shape, block.first + group, count, key);
  float* p = block.p + group * kScoreStride;
  float* ds = block.ds + group * kScoreStride;
  if (limit > 0) {
    Scores(count, limit, depth, block.q + group * padded, padded, side.packed_k, key, p);
    Scores(count, limit, depth, block.dout + group * padded, padded, side.packed_v, key, ds);
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = block.first + group + i;
    const int64_t valid = Larger(0, Smaller(limit, shape.Limit(row) - key));
    AdjustScores(shape, head, row, key, valid, p + i * kScoreStride);
    ScoreGradient(p + i * kScoreStride, ds + i * kScoreStride, valid, columns, head.lse[row], block.delta[group + i]);
  }
  return limit;
}

void BackwardBlock(const HeadShape& shape, const KeySide& side, const QueryGradient& head, int64_t first, int64_t rows,
                   Pieces pieces) {
  const int64_t depth = shape.depth, padded = PaddedDepth(shape);
  const QuerySide block = LoadQueries(shape, head, first, rows, pieces);
  float* dq = pieces.Take(kQueryBlock * padded);
  for (int64_t i = 0; i < rows * padded; ++i) dq[i] = 0;
  const int64_t block_limit = shape.Limit(first + rows - 1);
  for (int64_t key = FirstBlock(shape, first); key < block_limit; key += kKeyBlock) {
    const int64_t keys = Smaller(kKeyBlock, block_limit - key);
    for (int64_t group = 0; group < rows; group += kRows) {
      const int count = static_cast<int>(Smaller(kRows, rows - group));
      const int64_t limit = GroupGradients(shape, side, head, block, key, RoundUp(keys, kWidth), group);
      RowProduct(count, padded, limit, {block.ds + group * kScoreStride, kScoreStride, 1}, side.k + key * padded,
                 padded, dq + group * padded, padded, true);
    }
    for (int64_t group = 0; group < keys; group += kRows) {
      const int count = static_cast<int>(Smaller(kRows, keys - group));
      const int64_t skip = FirstRowSeeing(shape, first, rows, key + group);
      const int64_t at = (key + group) * padded, corner = skip * kScoreStride + group;
      RowProduct(count, padded, rows - skip, {block.p + corner, 1, kScoreStride}, block.dout + skip * padded, padded,
                 side.dv + at, padded, true);
      RowProduct(count, padded, rows - skip, {block.ds + corner, 1, kScoreStride}, block.q + skip * padded, padded,
                 side.dk + at, padded, true);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    float* to = head.dq.data + (first + i) * head.dq.stride;
    for (int64_t c = 0; c < depth; ++c) to[c] = shape.scale * dq[i * padded + c];
  }
}

KeySide PackKeys(const HeadShape& shape, ConstRows k, ConstRows v, Pieces& pieces) {
  float* packed_k = pieces.Take(PackedKeys(shape) * shape.depth);
  float* packed_v = pieces.Take(PackedKeys(shape) * shape.depth);
  PackTransposed(k, shape.keys, shape.depth, packed_k);
  PackTransposed(v, shape.keys, shape.depth, packed_v);
  return {packed_k, packed_v, nullptr, nullptr, nullptr};
}

void Backward(const HeadShape& shape, const BackwardHead& head, float* scratch) {
  Pieces pieces(scratch);
  const int64_t depth = shape.depth, padded = PaddedDepth(shape);
  KeySide side = PackKeys(shape, head.k, head.v, pieces);
  float* k = pieces.Take(shape.keys * padded);
  float* dk = pieces.Take(shape.keys * padded);
  float* dv = pieces.Take(shape.keys * padded);
  CopyRows(head.k, shape.keys, depth, padded, 1.0f, k);
  for (int64_t i = 0; i < shape.keys * padded; ++i) dk[i] = dv[i] = 0;
  side.k = k;
  side.dk = dk;
  side.dv = dv;
  for (int64_t h = 0; h < head.count; ++h) {
    for (int64_t first = 0; first < shape.queries; first += kQueryBlock) {
      BackwardBlock(shape, side, head.query_heads[h], first, Smaller(kQueryBlock, shape.queries - first), pieces);
    }
  }
  for (int64_t j = 0; j < shape.keys; ++j) {
    for (int64_t c = 0; c < depth; ++c) {
      head.dk.data[j * head.dk.stride + c] = dk[j * padded + c];
      head.dv.data[j * head.dv.stride + c] = dv[j * padded + c];
    }
  }
}

void BiasBackward(const HeadShape& shape, ConstRows k, ConstRows v, const QueryGradient& head,
                  OfHeadScores<float> dbias, float* scratch) {
  Pieces pieces(scratch);
  const KeySide side = PackKeys(shape, k, v, pieces);
  for (int64_t first = 0; first < shape.queries; first += kQueryBlock) {
    Pieces of_block = pieces;
    const QuerySide block = LoadQueries(shape, head, first, Smaller(kQueryBlock, shape.queries - first), of_block);
    const int64_t block_limit = shape.Limit(first + block.rows - 1);
    for (int64_t key = FirstBlock(shape, first); key < block_limit; key += kKeyBlock) {
      const int64_t keys = Smaller(kKeyBlock, block_limit - key);
      for (int64_t group = 0; group < block.rows; group += kRows) {
        GroupGradients(shape, side, head, block, key, RoundUp(keys, kWidth), group);
      }
      for (int64_t i = 0; i < block.rows; ++i) {
        float* to = dbias.data + (first + i) * dbias.row + key * dbias.key;
        for (int64_t j = 0; j < keys; ++j) to[j * dbias.key] += block.ds[i * kScoreStride + j];
      }
    }
  }
}

#define WEFT_STRING(x) #x
#define WEFT_NAME(x) WEFT_STRING(x)
constexpr HeadFunctions kFunctions = {WEFT_NAME(WEFT_LEVEL), ForwardScratch, BackwardScratch, Forward, Backward,
                                      BiasBackward};

}  // namespace

const HeadFunctions& Functions() { return kFunctions; }

}  // namespace weft::attention::WEFT_LEVEL
