// Part of cuda.cu: products of groups of rows, tile by tile, of bf16 and f16 by matrix instructions. How many rows a
// group has is known on the device alone: there is a block for every tile that there may be, and it looks through the
// counts for its own.
#ifndef WEFT_OPS_EINSUM_CUDA_CODE_GROUPED_H_
#define WEFT_OPS_EINSUM_CUDA_CODE_GROUPED_H_

#include "ops/cuda/types.h"
#include "ops/einsum/cuda_arguments.h"
#include "ops/einsum/cuda_code_tile.h"

namespace weft::einsum {

using namespace gpu;
// Rows first to end - 1 of one outer element, which belong to one group; below 0: to none.
struct Span {
  int64_t first, end, group;
};

// Calls visit(span) for each group of an outer element, and for the rows behind the last. A wrong count raises the
// alarm.
template <typename Visit>
WEFT_DEVICE void EachGroup(const GroupedArguments& args, int64_t outer, const Visit& visit) {
  int64_t row = 0;
  for (int64_t g = 0; g < args.groups; ++g) {
    const int64_t at = outer * args.groups + g;
    int64_t count = args.counts[at];
    if (count < 0 || row + count > args.rows) {
      Raise(args.alarm, at, count);
      count = count < 0 ? 0 : args.rows - row;
    }
    visit(Span{row, row + count, g});
    row += count;
  }
  visit(Span{row, args.rows, -1});
}

// The rows of tile `slot`, of kSize, of an outer element; none: first is end. Every group begins a tile.
template <int kSize>
WEFT_DEVICE Span RowsOfTile(const GroupedArguments& args, int64_t outer, int64_t slot) {
  Span found = {0, 0, -1};
  EachGroup(args, outer, [&](const Span& span) {
    const int64_t tiles = (span.end - span.first + kSize - 1) / kSize;
    if (slot >= 0 && slot < tiles) {
      const int64_t first = span.first + slot * kSize;
      found = {first, first + kSize < span.end ? first + kSize : span.end, span.group};
    }
    slot -= tiles;
  });
  return found;
}

template <typename T, typename R>
WEFT_DEVICE void GroupedMatmul(const GroupedArguments& args) {
  using Tile = typename TileFor<T>::Type;
  const int64_t first_column = int64_t{blockIdx.y} * Tile::kSize;
  for (int64_t outer = blockIdx.z; outer < args.outer; outer += gridDim.z) {
    const Span span = RowsOfTile<Tile::kSize>(args, outer, blockIdx.x);
    const int64_t first_row = outer * args.rows + span.first;
    const int64_t group = span.group - args.begin;
    const bool own = span.group >= 0 && group >= 0 && group < args.count;
    const T* matrix = static_cast<const T*>(args.right) + (own ? group : 0) * args.k * args.m;
    const TileOperand<T> left = {static_cast<const T*>(args.left) + first_row * args.k, args.k, span.end - span.first,
                                 true};
    const TileOperand<T> right = {matrix + first_column * (args.transposed ? args.k : 1),
                                  args.transposed ? args.k : args.m, args.m - first_column, args.transposed};
    Tile tile;
    tile.Add(own ? args.k : 0, left, right);
    tile.Each([&](int t, int u, float sum) {
      if (t >= left.count || u >= right.count) return;
      static_cast<R*>(args.result)[(first_row + t) * args.m + first_column + u] = Narrow<R>(sum);
    });
  }
}

template <typename T, typename R>
WEFT_DEVICE void GroupedOuter(const GroupedArguments& args) {
  using Tile = typename TileFor<T>::Type;
  const int64_t first_row = int64_t{blockIdx.x} * Tile::kSize, first_column = int64_t{blockIdx.y} * Tile::kSize;
  for (int64_t group = blockIdx.z; group < args.count; group += gridDim.z) {
    Tile tile;
    for (int64_t outer = 0; outer < args.outer; ++outer) {
      Span span = {0, 0, -1};
      EachGroup(args, outer, [&](const Span& it) {
        if (it.group == args.begin + group) span = it;
      });
      const int64_t before = outer * args.rows + span.first;
      tile.Add(span.end - span.first,
               TileOperand<T>{static_cast<const T*>(args.left) + before * args.k + first_row, args.k,
                              args.k - first_row, false},
               TileOperand<T>{static_cast<const T*>(args.right) + before * args.m + first_column, args.m,
                              args.m - first_column, false});
    }
    tile.Each([&](int t, int u, float sum) {
      const int64_t row = first_row + t, column = first_column + u;
      if (row >= args.k || column >= args.m) return;
      static_cast<R*>(args.result)[(group * args.k + row) * args.m + column] = Narrow<R>(sum);
    });
  }
}

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CUDA_CODE_GROUPED_H_
