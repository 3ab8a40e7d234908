// Attention of one head on one thread: the inner part of the kernels, compiled
// once for every supported level of x86-64 (head.cc) and chosen at run time.
#ifndef WEFT_OPS_ATTENTION_HEAD_H_
#define WEFT_OPS_ATTENTION_HEAD_H_

#include <cstdint>

namespace weft::attention {

// Rows of a matrix that lie `stride` elements apart.
struct ConstRows {
  const float* data;
  int64_t stride;
};
struct Rows {
  float* data;
  int64_t stride;
};

// The shape of one head. Query row i (local) sees keys [Begin(i), Limit(i)), but for those that a mask hides.
struct HeadShape {
  int64_t queries;
  int64_t keys;
  int64_t depth;  // of q, k and v alike
  float scale;    // of q . k
  bool causal;
  int64_t first_limit;  // with `causal`: row i sees keys below `first_limit + i`, at least 0, at most all
  int64_t window;       // of these the last ones
  int64_t first_row;    // rows before it see no key
  int64_t seen;         // no row sees the keys from this one on

  [[gnu::always_inline]] int64_t Limit(int64_t i) const {
    return i < first_row ? 0 : causal ? Key(first_limit + i) : seen;
  }
  [[gnu::always_inline]] int64_t Begin(int64_t i) const { return causal ? Key(first_limit + i - window) : 0; }
  [[gnu::always_inline]] int64_t Key(int64_t j) const { return j < 0 ? 0 : j < seen ? j : seen; }
};

// Of the scores of one query head: element (i, j) lies at data[i row + j key]. Null if there is none.
template <typename T>
struct OfHeadScores {
  T* data = nullptr;
  int64_t row = 0, key = 0;
};

// The keys up to the last one that any of the query rows [begin, end) sees: a mask may hide all behind, as those that a
// cache does not have yet.
inline int64_t SeenByAny(const HeadShape& shape, const OfHeadScores<const uint8_t>& mask, int64_t begin, int64_t end) {
  const int64_t seen = begin < end ? shape.Limit(end - 1) : 0;
  if (mask.data == nullptr) return seen;
  int64_t last = 0;
  for (int64_t row = begin; row < end; ++row) {
    const uint8_t* const of_row = mask.data + row * mask.row;
    int64_t key = seen;
    while (key > last && of_row[(key - 1) * mask.key] == 0) --key;
    last = key;
  }
  return last;
}

// out = softmax(scale q k^T + bias) v for query rows [begin, end); lse (may be null), one a row, is the
// log of the softmax's denominator. A row that sees no key gives zeros and -infinity. Keys are
// visited in blocks with a running maximum (Milakov and Gimelshein, "Online normalizer calculation
// for softmax", 2018), so scratch does not grow with queries; a row's value does not depend on
// `begin` and `end`. Keys and values behind those that SeenByAny() gives are not read.
struct ForwardHead {
  ConstRows q, k, v;
  Rows out;
  float* lse;
  OfHeadScores<const float> bias = {};
  OfHeadScores<const uint8_t> mask = {};
};

// One query head's part of the gradient.
struct QueryGradient {
  ConstRows q, out, dout;
  const float* lse;
  Rows dq;
  OfHeadScores<const float> bias = {};
  OfHeadScores<const uint8_t> mask = {};
};

// The gradient of one key head: all its query heads, in order. With p = exp(s - lse):
// dv = p^T dout, ds = p * (dout v^T - rowsum(dout * out)), dq = scale ds k, dk = scale ds^T q
// (Dao et al., "FlashAttention", 2022, appendix B). The gradient of the bias is ds.
struct BackwardHead {
  ConstRows k, v;
  Rows dk, dv;
  const QueryGradient* query_heads;
  int64_t count;
};

// The functions of one level of x86-64. `scratch` holds the given number of floats, aligned to 64
// bytes; any thread may call, each with its own scratch.
struct HeadFunctions {
  const char* level;
  int64_t (*forward_scratch)(const HeadShape& shape);
  int64_t (*backward_scratch)(const HeadShape& shape);
  void (*forward)(const HeadShape& shape, const ForwardHead& head, int64_t begin, int64_t end, float* scratch);
  void (*backward)(const HeadShape& shape, const BackwardHead& head, float* scratch);
  // Adds the ds of one query head (whose dq is not used) to `dbias`, row by row. Wants the scratch of `backward`.
  void (*bias_backward)(const HeadShape& shape, ConstRows k, ConstRows v, const QueryGradient& head,
                        OfHeadScores<float> dbias, float* scratch);
};

namespace v3 {
const HeadFunctions& Functions();  // AVX2 and FMA
}
namespace v4 {
const HeadFunctions& Functions();  // AVX-512 (F, BW, CD, DQ, VL)
}

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_HEAD_H_
