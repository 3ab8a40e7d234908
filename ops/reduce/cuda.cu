// Reductions in two shapes. Where the innermost dims are reduced, a block makes one
// output: its threads take packs of each row, or single elements where a row has fewer than the block threads. Where
// they are kept, a block makes 32 neighbouring outputs: eight threads share the summands of each. Both combine in an
// order that the shape alone decides.
#include "ops/cuda/dims.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/types.h"
#include "ops/reduce/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::reduce;

template <typename Op, typename Accumulator, typename From, typename To>
WEFT_DEVICE void Rows(const ReduceArguments& args) {
  for (int64_t k = blockIdx.x; k < args.kept.count; k += gridDim.x) {
    const From* x = static_cast<const From*>(args.x) + OffsetOf(args.kept, k);
    Accumulator value = Op::template Identity<Accumulator>();
    if (args.row >= blockDim.x) {
      for (int64_t r = 0; r < args.reduced.count; ++r) {
        EachPack(x + OffsetOf(args.reduced, r), args.row, [&](int64_t, const Pack<From>& pack, int count) {
          for (int i = 0; i < Pack<From>::kSize; ++i) {
            if (i < count) value = Op::Of(value, Accumulator(Widen(pack[i])));
          }
        });
      }
    } else {
      for (int64_t i = threadIdx.x; i < args.reduced.count * args.row; i += blockDim.x) {
        value = Op::Of(value, Accumulator(Widen(x[OffsetOf(args.reduced, i / args.row) + i % args.row])));
      }
    }
    value = BlockReduce<Op>(value);
    if (threadIdx.x == 0) static_cast<To*>(args.y)[k] = Narrow<To>(static_cast<float>(value * args.factor));
  }
}

template <typename Op, typename Accumulator, typename From, typename To>
WEFT_DEVICE void Columns(const ReduceArguments& args) {
  constexpr int kRows = kThreads / kColumns;
  __shared__ Accumulator parts[kRows][kColumns];
  const int64_t columns = (args.row + kColumns - 1) / kColumns;
  for (int64_t tile = blockIdx.x; tile < args.kept.count * columns; tile += gridDim.x) {
    const int64_t k = tile / columns, column = tile % columns * kColumns + threadIdx.x;
    const From* x = static_cast<const From*>(args.x) + OffsetOf(args.kept, k) + column;
    Accumulator value = Op::template Identity<Accumulator>();
    if (column < args.row) {
      for (int64_t r = threadIdx.y; r < args.reduced.count; r += kRows) {
        value = Op::Of(value, Accumulator(Widen(x[OffsetOf(args.reduced, r)])));
      }
    }
    parts[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.y == 0 && column < args.row) {
      for (int r = 1; r < kRows; ++r) value = Op::Of(value, parts[r][threadIdx.x]);
      static_cast<To*>(args.y)[k * args.row + column] = Narrow<To>(static_cast<float>(value * args.factor));
    }
    __syncthreads();
  }
}

}  // namespace

#define WEFT_REDUCE(From, To, types)                                                                    \
  WEFT_KERNEL(sum_rows_##types, ReduceArguments, kThreads) { Rows<Sum, double, From, To>(args); }       \
  WEFT_KERNEL(max_rows_##types, ReduceArguments, kThreads) { Rows<Max, float, From, To>(args); }        \
  WEFT_KERNEL(sum_columns_##types, ReduceArguments, kThreads) { Columns<Sum, double, From, To>(args); } \
  WEFT_KERNEL(max_columns_##types, ReduceArguments, kThreads) { Columns<Max, float, From, To>(args); }

WEFT_REDUCE(float, float, f32_f32)
WEFT_REDUCE(BF16, float, bf16_f32)
WEFT_REDUCE(BF16, BF16, bf16_bf16)
WEFT_REDUCE(F16, float, f16_f32)
WEFT_REDUCE(F16, F16, f16_f16)
