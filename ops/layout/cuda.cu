// Moves words of 1, 2, 4, 8 or 16 bytes: whole elements, or as many neighbours as go
// into 16 bytes.
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/layout/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::layout;

using Word16 = Pack<uint64_t, 2>;

// Index: 32 bits where they are enough, as their division is much cheaper.
template <typename Word, typename Index>
WEFT_DEVICE void Box(const BoxArguments& args) {
  for (int64_t i : EachOf(args.words)) {
    Index rest = static_cast<Index>(i);
    int64_t from = args.from, to = args.to;
    bool inside = true;
    for (int d = 0; d < args.dims; ++d) {
      const BoxDim& dim = args.dim[d];
      const Index extent = static_cast<Index>(dim.extent);
      const int64_t index = d + 1 < args.dims ? rest % extent : rest;
      rest /= extent;
      inside = inside && index >= dim.begin && index < dim.end;
      from += index * dim.from;
      to += index * dim.to;
    }
    static_cast<Word*>(args.y)[to] = inside ? static_cast<const Word*>(args.x)[from] : Word{};
  }
}

// A block turns kTile x kTile elements through shared memory, so that both sides are accessed in rows.
template <typename Word>
WEFT_DEVICE void Transpose(const TransposeArguments& args) {
  __shared__ Word tile[kTile][kTile + 1];
  constexpr int kStep = kThreads / kTile;
  const int64_t down = (args.rows + kTile - 1) / kTile, across = (args.columns + kTile - 1) / kTile;
  for (int64_t t = blockIdx.x; t < args.planes * down * across; t += gridDim.x) {
    const Word* x = static_cast<const Word*>(args.x);
    Word* y = static_cast<Word*>(args.y);
    int64_t plane = t / (down * across);
    for (int d = args.dims - 1; d >= 0; --d) {
      x += plane % args.extent[d] * args.from[d];
      y += plane % args.extent[d] * args.to[d];
      plane /= args.extent[d];
    }
    const int64_t row = t / across % down * kTile, column = t % across * kTile;
    for (int c = threadIdx.y; c < kTile; c += kStep) {
      const int64_t r = row + threadIdx.x;
      if (r < args.rows && column + c < args.columns) tile[c][threadIdx.x] = x[r + (column + c) * args.column_from];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < kTile; r += kStep) {
      const int64_t c = column + threadIdx.x;
      if (row + r < args.rows && c < args.columns) y[(row + r) * args.row_to + c] = tile[threadIdx.x][r];
    }
    __syncthreads();
  }
}

}  // namespace

#define WEFT_LAYOUT(Word, bytes)                                                  \
  WEFT_KERNEL(box_##bytes, BoxArguments, kThreads) { Box<Word, uint32_t>(args); } \
  WEFT_KERNEL(box_##bytes##_long, BoxArguments, kThreads) { Box<Word, int64_t>(args); }
#define WEFT_TRANSPOSE(Word, bytes) \
  WEFT_KERNEL(transpose_##bytes, TransposeArguments, kThreads) { Transpose<Word>(args); }

WEFT_LAYOUT(uint8_t, 1)
WEFT_LAYOUT(uint16_t, 2)
WEFT_LAYOUT(uint32_t, 4)
WEFT_LAYOUT(uint64_t, 8)
WEFT_LAYOUT(Word16, 16)
WEFT_TRANSPOSE(uint8_t, 1)
WEFT_TRANSPOSE(uint16_t, 2)
WEFT_TRANSPOSE(uint32_t, 4)
WEFT_TRANSPOSE(uint64_t, 8)
