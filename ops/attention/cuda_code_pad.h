// Rows of heads with another head size: zeros behind each, or less of it.
#ifndef WEFT_OPS_ATTENTION_CUDA_CODE_PAD_H_
#define WEFT_OPS_ATTENTION_CUDA_CODE_PAD_H_

#include "ops/attention/cuda_arguments.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"

namespace weft::attention {

// A warp has a row of one of the tensors, that of blockIdx.y, and moves 8 bytes a lane.
WEFT_DEVICE void Resize(const ResizeArguments& args) {
  using gpu::LoadPack, gpu::StorePack;
  constexpr int kPack = 4;
  const ResizedTensor& tensor = args.tensors[blockIdx.y];
  const auto* from = static_cast<const uint16_t*>(tensor.from);
  auto* to = static_cast<uint16_t*>(tensor.to);
  const int64_t step = int64_t{gridDim.x} * (kResizeThreads / 32);
  for (int64_t row = int64_t{blockIdx.x} * (kResizeThreads / 32) + threadIdx.x / 32; row < tensor.rows; row += step) {
    for (int at = static_cast<int>(threadIdx.x % 32) * kPack; at < args.to_depth; at += 32 * kPack) {
      // Of a pack behind the row nothing is read.
      const gpu::Pack<uint16_t, kPack> pack = LoadPack<kPack>(from + row * args.from_depth + at, args.from_depth - at);
      StorePack<kPack>(to + row * args.to_depth + at, pack, args.to_depth - at);
    }
  }
}

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CUDA_CODE_PAD_H_
