// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_GATHER_CUDA_ARGUMENTS_H_
#define WEFT_OPS_GATHER_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/gpu_alarm.h"

namespace weft::gather {

inline constexpr int kThreads = 256;

// The problem of ops/gather/problem.h.
struct GatherArguments {
  const void* ids;
  const void* x;        // take: the table; scatter_add: the updates; scatter_set: the tensor
  const void* updates;  // of scatter_set
  void* y;
  int64_t batch, outer, positions, inner;
  int64_t size, begin, count;
  bool wide_ids;
  // What `links` leaves. A row [batch, count] begins a chain of its positions in `first`, which goes on in `next`
  // [batch, positions]; -1 ends it. Null `next`: `first` is the last position of the row instead.
  int32_t* first;
  int32_t* next;
  GpuAlarm* alarm;
};

}  // namespace weft::gather

#endif  // WEFT_OPS_GATHER_CUDA_ARGUMENTS_H_
