// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_ATTENTION_CUDA_ARGUMENTS_H_
#define WEFT_OPS_ATTENTION_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::attention {

// One set of arguments for forward and backward. q, dq, out and dout are [batch, queries, query_heads,
// depth], k, v, dk and dv [batch, keys, key_heads, depth], all of one type; lse and delta, which is
// rowsum(dout * out), [batch, query_heads, queries].
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
  // Query row i sees the keys below min(max(first_limit + i, 0), keys).
  int32_t first_limit;
  float scale;
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

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CUDA_ARGUMENTS_H_
