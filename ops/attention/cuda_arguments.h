// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_ATTENTION_CUDA_ARGUMENTS_H_
#define WEFT_OPS_ATTENTION_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::attention {

// A bias or mask, null if there is none: the dims [batch, query_heads, queries, keys], or 1, and the elements from one
// index to the next in each of them, 0 where a dim is 1.
template <typename T>
struct OfScores {
  T* data;
  int32_t dims[4];
  int64_t steps[4];
};

// One set of arguments for forward and backward. q, dq, out and dout are [batch, queries, query_heads,
// depth], k, v, dk and dv [batch, keys, key_heads, depth], all of one type; lse and delta, which is
// rowsum(dout * out), [batch, query_heads, queries]. From one row of q and dq to the next it is `query_row` elements,
// of k, v, dk and dv `key_row`; the others have no gaps.
struct AttentionArguments {
  const void* q;
  const void* k;
  const void* v;
  void* out;   // backward: only read
  float* lse;  // backward: only read; forward: may be null
  const void* dout;
  float* delta;
  void* dq;
  void* dk;
  void* dv;
  int32_t batch, queries, keys, query_heads, key_heads, depth;
  int32_t query_row, key_row;
  // Query row i, from `first_row` on, sees the last `window` of the keys below min(max(first_limit + i, 0), seen).
  int32_t first_limit, window, first_row, seen;
  float scale;
  OfScores<const float> bias;
  OfScores<const uint8_t> mask;  // 0: the row does not see the key
  float* dbias;                  // [the dims of the bias]
};

// The plain kernels. A block of kPlainThreads makes a tile of query rows by keys, both of `depth`
// elements, padded to one of 32, 64, 128 and 256.
inline constexpr int kPlainThreads = 256;
inline constexpr int kMaxDepth = 256;
constexpr int PlainDepth(int depth) { return depth <= 32 ? 32 : depth <= 64 ? 64 : depth <= 128 ? 128 : 256; }
// The long side of a tile, which a block stays with, and the side it walks along in the backward pass.
constexpr int PlainSide(int depth) { return depth <= 64 ? 64 : depth <= 128 ? 32 : 16; }
constexpr int PlainStep(int depth) { return depth <= 128 ? 32 : 16; }
// What is behind a row in shared memory, so that rows begin in other banks.
inline constexpr int kPlainPad = 4;
constexpr int PlainForwardBytes(int depth) {
  return 4 * PlainSide(depth) * (3 * (depth + kPlainPad) + PlainSide(depth) + kPlainPad);
}
constexpr int PlainQueryGradientBytes(int depth) {
  return 4 * (2 * (PlainSide(depth) + PlainStep(depth)) * (depth + kPlainPad) +
              PlainSide(depth) * (PlainStep(depth) + kPlainPad));
}
constexpr int PlainKeyGradientBytes(int depth) {
  return 4 * (2 * (PlainSide(depth) + PlainStep(depth)) * (depth + kPlainPad) +
              2 * PlainStep(depth) * (PlainSide(depth) + kPlainPad));
}

// The gradient of the bias: a block has a tile of rows, their deltas, and a step of keys.
constexpr int PlainBiasGradientBytes(int depth) {
  return 4 * (2 * (PlainSide(depth) + PlainStep(depth)) * (depth + kPlainPad) + PlainSide(depth));
}

// The kernels that use matrix instructions. A block of `warps` warps has `side` rows of a head, 16
// `tiles` a warp, and walks along the other side in steps, of which the next one is loaded while one is used.
struct TensorTile {
  int warps, tiles, step;
  constexpr int threads() const { return 32 * warps; }
  constexpr int side() const { return 16 * tiles * warps; }
};
constexpr int TensorDepth(int depth) { return depth <= 64 ? 64 : 128; }
inline constexpr int kMaxTensorDepth = 128;
constexpr TensorTile ForwardTile(int depth) { return {.warps = 4, .tiles = 2, .step = depth <= 64 ? 64 : 32}; }
constexpr TensorTile QueryGradientTile(int depth) { return {.warps = 4, .tiles = depth <= 64 ? 2 : 1, .step = 32}; }
constexpr TensorTile KeyGradientTile(int depth) { return {.warps = 4, .tiles = depth <= 64 ? 2 : 1, .step = 32}; }
// q and two steps of k and v.
constexpr int ForwardBytes(int depth) { return 2 * depth * (ForwardTile(depth).side() + 4 * ForwardTile(depth).step); }
// q and dout, two steps of k and v, and delta.
constexpr int QueryGradientBytes(int depth) {
  return 2 * depth * (2 * QueryGradientTile(depth).side() + 4 * QueryGradientTile(depth).step) +
         4 * QueryGradientTile(depth).side();
}
// k and v, two steps of q, dout, lse and delta.
constexpr int KeyGradientBytes(int depth) {
  return 2 * depth * (2 * KeyGradientTile(depth).side() + 4 * KeyGradientTile(depth).step) +
         16 * KeyGradientTile(depth).step;
}

// Copies of tensors with heads of another size, and as many rows: what is behind a shorter one is zeros.
inline constexpr int kResizeThreads = 256;
struct ResizedTensor {
  const void* from;
  void* to;
  int64_t rows;
};
struct ResizeArguments {
  ResizedTensor tensors[5];
  int32_t from_depth, to_depth;
};

// Of the log sums `all`, [lists, rows], those of the rows from `first_row` on are `part`, [lists, rows - first_row].
inline constexpr int kLogSumThreads = 256;
struct LogSumArguments {
  float* all;
  float* part;
  int64_t lists, rows, first_row;
};

// out, more and both are [rows, heads, depth] for the rows of the whole batch; the log sums [batch, heads, rows_each].
inline constexpr int kMergeThreads = 256;
struct MergeArguments {
  const float* out;
  const float* lse;
  const void* more;
  const float* more_lse;
  float* both;
  float* both_lse;
  int64_t rows, rows_each, heads;
  int32_t depth;
};

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CUDA_ARGUMENTS_H_
