// The log sums of some of the rows, apart. Part of cuda.cu.
#ifndef WEFT_OPS_ATTENTION_CUDA_CODE_LOG_SUMS_H_
#define WEFT_OPS_ATTENTION_CUDA_CODE_LOG_SUMS_H_

#include "ops/attention/cuda_arguments.h"
#include "ops/cuda/kernel.h"

namespace weft::attention {

// Into the part, or out of it: those of rows before the part are -infinity then, as of rows that see no key.
template <bool kOut>
WEFT_DEVICE void CopyLogSums(const LogSumArguments& args) {
  const int64_t part_rows = args.rows - args.first_row;
  const int64_t count = args.lists * (kOut ? args.rows : part_rows), step = int64_t{gridDim.x} * kLogSumThreads;
  for (int64_t i = int64_t{blockIdx.x} * kLogSumThreads + threadIdx.x; i < count; i += step) {
    if constexpr (kOut) {
      const int64_t row = i % args.rows - args.first_row;
      args.all[i] = row < 0 ? -INFINITY : args.part[i / args.rows * part_rows + row];
    } else {
      args.part[i] = args.all[i / part_rows * args.rows + args.first_row + i % part_rows];
    }
  }
}

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CUDA_CODE_LOG_SUMS_H_
