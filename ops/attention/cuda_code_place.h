// Where a block of an attention kernel works, and which keys rows see. Part of cuda.cu.
#ifndef WEFT_OPS_ATTENTION_CUDA_CODE_PLACE_H_
#define WEFT_OPS_ATTENTION_CUDA_CODE_PLACE_H_

#include "ops/attention/cuda_arguments.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"

namespace weft::attention {

using namespace weft::gpu;

inline constexpr float kLog2E = 1.4426950408889634f;
inline constexpr float kLn2 = 0.6931471805599453f;

// The keys that query row `i` sees are [0, LimitOf(i)).
WEFT_DEVICE int LimitOf(const AttentionArguments& args, int i) {
  return i < args.first_row ? 0 : min(max(args.first_limit + i, 0), args.seen);
}
// The first query row that sees `key`, which may be beyond all.
WEFT_DEVICE int FirstRowSeeing(const AttentionArguments& args, int key) {
  return key < args.seen ? max(key + 1 - args.first_limit, args.first_row) : args.queries;
}
// Under a window the first of these keys is this one, and the rows that see a key end here.
WEFT_DEVICE int BeginOf(const AttentionArguments& args, int i) {
  return min(max(args.first_limit + i - args.window, 0), args.keys);
}
WEFT_DEVICE int EndOfRowsSeeing(const AttentionArguments& args, int key) {
  const int64_t end = int64_t{key} + 1 + args.window - args.first_limit;
  return end < args.queries ? max(static_cast<int>(end), 0) : args.queries;
}

// Elements from one row of a head to the next.
WEFT_DEVICE int64_t QueryStride(const AttentionArguments& args) { return args.query_row; }
WEFT_DEVICE int64_t KeyStride(const AttentionArguments& args) { return args.key_row; }
WEFT_DEVICE int64_t OutStride(const AttentionArguments& args) { return int64_t{args.query_heads} * args.depth; }

// One head of one element of the batch, and one of its tiles. Tiles with the most
// work come first: under a causal mask the last query rows, the first keys.
struct Place {
  int batch, head, tile;
};
WEFT_DEVICE Place PlaceOf(const AttentionArguments& args, int heads) {
  const int all = args.batch * heads, index = static_cast<int>(blockIdx.x);
  const int head = index % all;
  return {head / heads, head % heads, index / all};
}
WEFT_DEVICE Place QueryPlace(const AttentionArguments& args, int side) {
  Place place = PlaceOf(args, args.query_heads);
  place.tile = (args.queries + side - 1) / side - 1 - place.tile;
  return place;
}

// Of element (batch, 0, head, 0).
WEFT_DEVICE int64_t QueryOffset(const AttentionArguments& args, int batch, int head) {
  return int64_t{batch} * args.queries * QueryStride(args) + head * args.depth;
}
WEFT_DEVICE int64_t KeyOffset(const AttentionArguments& args, int batch, int head) {
  return int64_t{batch} * args.keys * KeyStride(args) + head * args.depth;
}
WEFT_DEVICE int64_t OutOffset(const AttentionArguments& args, int batch, int head) {
  return int64_t{batch} * args.queries * OutStride(args) + head * args.depth;
}
// Of lse and delta, (batch, head, 0).
WEFT_DEVICE int64_t RowOffset(const AttentionArguments& args, int batch, int head) {
  return (int64_t{batch} * args.query_heads + head) * args.queries;
}

// The bias and the mask of one query head; null if there is none.
struct HeadScores {
  const float* bias;
  const uint8_t* mask;

  WEFT_DEVICE HeadScores(const AttentionArguments& args, int batch, int head)
      : bias(At(args.bias, batch, head)), mask(At(args.mask, batch, head)) {}

  // What is added to the score of query row `i` and `key`: -infinity where the row does not see the key.
  WEFT_DEVICE float Added(const AttentionArguments& args, int i, int key) const {
    if (i >= args.queries || key < BeginOf(args, i) || key >= LimitOf(args, i)) return -INFINITY;
    if (mask != nullptr && mask[i * args.mask.steps[2] + key * args.mask.steps[3]] == 0) return -INFINITY;
    return bias != nullptr ? bias[i * args.bias.steps[2] + key * args.bias.steps[3]] : 0.0f;
  }

 private:
  template <typename T>
  WEFT_DEVICE static T* At(const OfScores<T>& all, int batch, int head) {
    return all.data != nullptr ? all.data + batch * all.steps[0] + head * all.steps[1] : nullptr;
  }
};

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CUDA_CODE_PLACE_H_
