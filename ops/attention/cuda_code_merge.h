// Attention over two sets of keys from attention over each. Part of cuda.cu.
#ifndef WEFT_OPS_ATTENTION_CUDA_CODE_MERGE_H_
#define WEFT_OPS_ATTENTION_CUDA_CODE_MERGE_H_

#include "ops/attention/cuda_arguments.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"

namespace weft::attention {

// A warp has a row of a head, and 4 elements a lane. All lanes have read the log sums before one writes.
template <typename T>
WEFT_DEVICE void Merge(const MergeArguments& args) {
  constexpr int kPack = 4;
  const int64_t step = int64_t{gridDim.x} * (kMergeThreads / 32);
  for (int64_t i = int64_t{blockIdx.x} * (kMergeThreads / 32) + threadIdx.x / 32; i < args.rows * args.heads;
       i += step) {
    // Rows count those of the whole batch.
    const int64_t head = i % args.heads, row = i / args.heads % args.rows_each, batch = i / args.heads / args.rows_each;
    const int64_t of_row = (batch * args.heads + head) * args.rows_each + row;
    const float lse = args.lse[of_row], more_lse = args.more_lse[of_row];
    const float most = fmaxf(lse, more_lse), shift = most == -INFINITY ? 0.0f : most;
    const float a = expf(lse - shift), b = expf(more_lse - shift), sum = a + b;
    const float factor = sum == 0 ? 0.0f : a / sum, more_factor = sum == 0 ? 0.0f : b / sum;
    __syncwarp();
    if (threadIdx.x % 32 == 0) args.both_lse[of_row] = most + logf(sum);
    const T* more = static_cast<const T*>(args.more) + i * args.depth;
    for (int at = static_cast<int>(threadIdx.x % 32) * kPack; at < args.depth; at += 32 * kPack) {
      gpu::Pack<float, kPack> pack = gpu::LoadPack<kPack>(args.out + i * args.depth + at, args.depth - at);
      const gpu::Pack<T, kPack> added = gpu::LoadPack<kPack>(more + at, args.depth - at);
      for (int e = 0; e < kPack; ++e) pack[e] = factor * pack[e] + more_factor * gpu::Widen(added[e]);
      gpu::StorePack<kPack>(args.both + i * args.depth + at, pack, args.depth - at);
    }
  }
}

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CUDA_CODE_MERGE_H_
