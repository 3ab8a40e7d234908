// Compiled once a level of x86-64: WEFT_LEVEL is v3 or v4. Uses no function of
// the standard library and only internal ones of its own (see tile_gemm.h).
#include "ops/attention/head.h"

#include "ops/math/tile_gemm.h"
#include "ops/math/vector_math.h"

namespace weft::attention::WEFT_LEVEL {
namespace {

constexpr int64_t kQueryBlock = 48;  // a multiple of kRows
constexpr int64_t kKeyBlock = 128;
constexpr int64_t kPanel = 64;  // columns of a panel of packed k^T; divides kKeyBlock
// Scores are read by columns in the backward pass: rows must not lie a power of two apart.
constexpr int64_t kScoreStride = kKeyBlock + 16;

int64_t Smaller(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t Larger(int64_t a, int64_t b) { return a > b ? a : b; }
int64_t RoundUp(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
int64_t PaddedDepth(const HeadShape& shape) { return RoundUp(shape.depth, kWidth); }
int64_t PackedKeys(const HeadShape& shape) { return RoundUp(shape.keys, kPanel); }

// Hands out pieces of scratch, each aligned to 64 bytes.
class Pieces {
 public:
  explicit Pieces(float* next) : next_(next) {}
  float* Take(int64_t floats) {
    float* piece = next_;
    next_ += RoundUp(floats, 16);
    return piece;
  }

 private:
  float* next_;
};

// `rows` rows, times `factor`, padded with zeros to `padded` columns.
void CopyRows(ConstRows from, int64_t rows, int64_t depth, int64_t padded, float factor, float* __restrict to) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* __restrict source = from.data + i * from.stride;
    for (int64_t c = 0; c < depth; ++c) to[i * padded + c] = factor * source[c];
    for (int64_t c = depth; c < padded; ++c) to[i * padded + c] = 0;
  }
}

// The transpose of `rows` x `depth`, in panels [rows / kPanel][depth][kPanel], padded with zeros.
void PackTransposed(ConstRows from, int64_t rows, int64_t depth, float* to) {
  for (int64_t first = 0; first < rows; first += kPanel, to += depth * kPanel) {
    for (int64_t strip = 0; strip < kPanel; strip += kWidth) {
      const int64_t here = Larger(0, Smaller(kWidth, rows - first - strip));
      TransposeStrip(from.data + (first + strip) * from.stride, from.stride, here, depth, to + strip, kPanel);
    }
  }
}

float Dot(const float* __restrict a, const float* __restrict b, int64_t n) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

float Sum(const float* a, int64_t n) {
#pragma clang fp reassociate(on)
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i];
  return sum;
}

// n > 0, a multiple of kWidth.
float Maximum(const float* a, int64_t n) {
  Vector largest = Load(a);
  for (int64_t j = kWidth; j < n; j += kWidth) {
    const Vector next = Load(a + j);
    largest = next > largest ? next : largest;
  }
  float result = largest[0];
  for (int lane = 1; lane < kWidth; ++lane) result = largest[lane] > result ? largest[lane] : result;
  return result;
}

// scores[rows x columns] = left[rows x depth] packed^T for the keys from `key`; whole vectors.
void Scores(int rows, int64_t columns, int64_t depth, const float* left, int64_t left_stride, const float* packed,
            int64_t key, float* scores) {
  for (int64_t j = 0; j < columns; j += kPanel) {
    const float* panel = packed + (key + j) * depth;
    RowProduct(rows, RoundUp(Smaller(kPanel, columns - j), kWidth), depth, {left, left_stride, 1}, panel, kPanel,
               scores + j, kScoreStride, false);
  }
}

// The running state of a block of query rows.
struct Running {
  float largest[kQueryBlock];
  float sum[kQueryBlock];
};

// Turns a row of scores into exponentials below the running maximum, zero from `valid` to
// `columns`, and scales what the row has summed so far.
void SoftmaxStep(float* __restrict scores, int64_t valid, int64_t columns, float* largest, float* sum,
                 float* __restrict accumulated, int64_t depth) {
  for (int64_t j = valid; j < columns; ++j) scores[j] = -__builtin_inff();
  if (valid == 0) {
    for (int64_t j = 0; j < columns; ++j) scores[j] = 0;
    return;
  }
  const float before = *largest;
  const float block = Maximum(scores, columns);
  const float now = block > before ? block : before;
  const float shift = now == -__builtin_inff() ? 0.0f : now;
  for (int64_t j = 0; j < columns; ++j) scores[j] = Exp(scores[j] - shift);
  const float shrink = Exp(before - shift);
  *largest = now;
  *sum = *sum * shrink + Sum(scores, columns);
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
  for (int64_t key = 0; key < block_limit; key += kKeyBlock) {
    for (int64_t group = 0; group < rows; group += kRows) {
      const int count = static_cast<int>(Smaller(kRows, rows - group));
      const int64_t limit = Smaller(kKeyBlock, shape.Limit(first + group + count - 1) - key);
      if (limit <= 0) continue;
      const int64_t columns = RoundUp(limit, kWidth);
      float* group_scores = scores + group * kScoreStride;
      Scores(count, columns, depth, q + group * padded, padded, packed_k, key, group_scores);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t valid = Larger(0, Smaller(kKeyBlock, shape.Limit(first + group + i) - key));
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

void Forward(const HeadShape& shape, const ForwardHead& head, int64_t begin, int64_t end, float* scratch) {
  Pieces pieces(scratch);
  const int64_t padded = PaddedDepth(shape);
  float* packed_k = pieces.Take(PackedKeys(shape) * shape.depth);
  float* v = pieces.Take(shape.keys * padded);
  const int64_t seen = begin < end ? shape.Limit(end - 1) : 0;
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
  for (int64_t j = 0; j < valid; ++j) {
    const float p = Exp(s[j] - lse);
    s[j] = p;
    dp[j] = p * (dp[j] - delta);
  }
  for (int64_t j = valid; j < columns; ++j) s[j] = dp[j] = 0;
}

// The query rows of one block that have seen any of the keys from `key`, from this one on.
int64_t FirstRowSeeing(const HeadShape& shape, int64_t first, int64_t rows, int64_t key) {
  if (!shape.causal) return 0;
  return Smaller(rows, Larger(0, key + 1 - shape.first_limit - first));
}

void BackwardBlock(const HeadShape& shape, const KeySide& side, const QueryGradient& head, int64_t first, int64_t rows,
                   Pieces pieces) {
  const int64_t depth = shape.depth, padded = PaddedDepth(shape);
  float* q = pieces.Take(kQueryBlock * padded);
  float* dout = pieces.Take(kQueryBlock * padded);
  float* dq = pieces.Take(kQueryBlock * padded);
  float* p = pieces.Take(kQueryBlock * kScoreStride);
  float* ds = pieces.Take(kQueryBlock * kScoreStride);
  CopyRows({head.q.data + first * head.q.stride, head.q.stride}, rows, depth, padded, shape.scale, q);
  CopyRows({head.dout.data + first * head.dout.stride, head.dout.stride}, rows, depth, padded, 1.0f, dout);
  for (int64_t i = 0; i < rows * padded; ++i) dq[i] = 0;
  float delta[kQueryBlock];
  for (int64_t i = 0; i < rows; ++i) {
    delta[i] = Dot(head.out.data + (first + i) * head.out.stride, dout + i * padded, depth);
  }
  const int64_t block_limit = shape.Limit(first + rows - 1);
  for (int64_t key = 0; key < block_limit; key += kKeyBlock) {
    const int64_t keys = Smaller(kKeyBlock, block_limit - key);
    const int64_t columns = RoundUp(keys, kWidth);
    for (int64_t group = 0; group < rows; group += kRows) {
      const int count = static_cast<int>(Smaller(kRows, rows - group));
      const int64_t limit = Larger(0, Smaller(kKeyBlock, shape.Limit(first + group + count - 1) - key));
      float* group_p = p + group * kScoreStride;
      float* group_ds = ds + group * kScoreStride;
      if (limit > 0) {
        Scores(count, limit, depth, q + group * padded, padded, side.packed_k, key, group_p);
        Scores(count, limit, depth, dout + group * padded, padded, side.packed_v, key, group_ds);
      }
      for (int64_t i = 0; i < count; ++i) {
        const int64_t row = first + group + i;
        const int64_t valid = Larger(0, Smaller(kKeyBlock, shape.Limit(row) - key));
        ScoreGradient(group_p + i * kScoreStride, group_ds + i * kScoreStride, valid, columns, head.lse[row],
                      delta[group + i]);
      }
      RowProduct(count, padded, limit, {group_ds, kScoreStride, 1}, side.k + key * padded, padded, dq + group * padded,
                 padded, true);
    }
    for (int64_t group = 0; group < keys; group += kRows) {
      const int count = static_cast<int>(Smaller(kRows, keys - group));
      const int64_t skip = FirstRowSeeing(shape, first, rows, key + group);
      const int64_t at = (key + group) * padded, corner = skip * kScoreStride + group;
      RowProduct(count, padded, rows - skip, {p + corner, 1, kScoreStride}, dout + skip * padded, padded, side.dv + at,
                 padded, true);
      RowProduct(count, padded, rows - skip, {ds + corner, 1, kScoreStride}, q + skip * padded, padded, side.dk + at,
                 padded, true);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    float* to = head.dq.data + (first + i) * head.dq.stride;
    for (int64_t c = 0; c < depth; ++c) to[c] = shape.scale * dq[i * padded + c];
  }
}

void Backward(const HeadShape& shape, const BackwardHead& head, float* scratch) {
  Pieces pieces(scratch);
  const int64_t depth = shape.depth, padded = PaddedDepth(shape);
  float* packed_k = pieces.Take(PackedKeys(shape) * depth);
  float* packed_v = pieces.Take(PackedKeys(shape) * depth);
  float* k = pieces.Take(shape.keys * padded);
  float* dk = pieces.Take(shape.keys * padded);
  float* dv = pieces.Take(shape.keys * padded);
  PackTransposed(head.k, shape.keys, depth, packed_k);
  PackTransposed(head.v, shape.keys, depth, packed_v);
  CopyRows(head.k, shape.keys, depth, padded, 1.0f, k);
  for (int64_t i = 0; i < shape.keys * padded; ++i) dk[i] = dv[i] = 0;
  const KeySide side = {packed_k, packed_v, k, dk, dv};
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

#define WEFT_STRING(x) #x
#define WEFT_NAME(x) WEFT_STRING(x)
constexpr HeadFunctions kFunctions = {WEFT_NAME(WEFT_LEVEL), ForwardScratch, BackwardScratch, Forward, Backward};

}  // namespace

const HeadFunctions& Functions() { return kFunctions; }

}  // namespace weft::attention::WEFT_LEVEL
