// Rows of a table by their ids, and the sum of rows by id.
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/embedding/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::embedding;

// The local row of a position's id, -1 if another rank has it; an id outside the
// vocabulary raises the alarm.
WEFT_DEVICE int64_t RowOf(const EmbeddingArguments& args, int64_t position) {
  const int32_t id = args.ids[position];
  if (id < 0 || id >= args.size) {
    Raise(args.alarm, position, id);
    return -1;
  }
  const int64_t row = id - args.begin;
  return row >= 0 && row < args.count ? row : -1;
}

// y[p] = table[ids[p]], 0 where another rank has the row. Neighbouring threads
// move neighbouring elements.
template <typename Word>
WEFT_DEVICE void Gather(const EmbeddingArguments& args) {
  const Word* table = static_cast<const Word*>(args.x);
  Word* y = static_cast<Word*>(args.y);
  for (int64_t i : EachOf(args.positions * args.width)) {
    const int64_t row = RowOf(args, i / args.width);
    y[i] = row >= 0 ? table[row * args.width + i % args.width] : Word(0);
  }
}

// table[r] = the sum of dy[p] over the positions of row r, in their order, in
// double: deterministic without a sort. A block does one row (blocks go over rows)
// and kThreads columns; it looks through the ids kThreads at a time.
template <typename T>
WEFT_DEVICE void SumRows(const EmbeddingArguments& args) {
  __shared__ uint32_t found[kThreads / 32];
  const T* dy = static_cast<const T*>(args.x);
  float* table = static_cast<float*>(args.y);
  const int64_t column = int64_t{blockIdx.y} * kThreads + threadIdx.x;
  for (int64_t row = blockIdx.x; row < args.count; row += gridDim.x) {
    double sum = 0;
    for (int64_t first = 0; first < args.positions; first += kThreads) {
      const int64_t mine = first + threadIdx.x;
      const bool here = mine < args.positions && RowOf(args, mine) == row;
      const uint32_t ballot = __ballot_sync(0xffffffffu, here);
      if (threadIdx.x % 32 == 0) found[threadIdx.x / 32] = ballot;
      __syncthreads();
      for (int w = 0; w < kThreads / 32; ++w) {
        for (uint32_t rest = found[w], lane = 0; rest != 0; rest >>= 1, ++lane) {
          if ((rest & 1) != 0 && column < args.width) {
            sum += static_cast<double>(Widen(dy[(first + w * 32 + lane) * args.width + column]));
          }
        }
      }
      __syncthreads();
    }
    if (column < args.width) table[row * args.width + column] = static_cast<float>(sum);
  }
}

}  // namespace

WEFT_KERNEL(embedding_2, EmbeddingArguments, kThreads) { Gather<uint16_t>(args); }
WEFT_KERNEL(embedding_4, EmbeddingArguments, kThreads) { Gather<uint32_t>(args); }
WEFT_KERNEL(embedding_grad_f32, EmbeddingArguments, kThreads) { SumRows<float>(args); }
WEFT_KERNEL(embedding_grad_bf16, EmbeddingArguments, kThreads) { SumRows<BF16>(args); }
WEFT_KERNEL(embedding_grad_f16, EmbeddingArguments, kThreads) { SumRows<F16>(args); }
