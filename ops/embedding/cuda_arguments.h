// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_EMBEDDING_CUDA_ARGUMENTS_H_
#define WEFT_OPS_EMBEDDING_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/gpu_alarm.h"

namespace weft::embedding {

inline constexpr int kThreads = 256;

// The local table is [count, width], rows `begin` and on of a vocabulary of `size`.
// embedding: x is the table, y [positions, width]; embedding_grad: the other way round.
struct EmbeddingArguments {
  const int32_t* ids;
  const void* x;
  void* y;
  int64_t positions;
  int64_t width;
  int64_t size, begin, count;
  GpuAlarm* alarm;
};

}  // namespace weft::embedding

#endif  // WEFT_OPS_EMBEDDING_CUDA_ARGUMENTS_H_
