// What a file of GPU kernels (ops/<family>/cuda.cu) includes first. It is
// compiled twice: by nvcc for GPUs, and by the host's compiler, where simt.h
// plays the GPU so that tests can run it anywhere.
//
//   struct ScaleArguments { const float* x; float* y; int64_t n; float factor; };
//
//   WEFT_KERNEL(scale, ScaleArguments, 256) {
//     for (int64_t i : weft::gpu::EachOf(args.n)) args.y[i] = args.x[i] * args.factor;
//   }
//
// A kernel takes one struct, `args`, and says how many threads a block has at
// most. Its name is unique in the file. Templates are instantiated by a line a type.
#ifndef WEFT_OPS_CUDA_KERNEL_H_
#define WEFT_OPS_CUDA_KERNEL_H_

#include <cstdint>

#include "ops/abi/gpu_alarm.h"

#if defined(__CUDACC__)
#define WEFT_KERNEL(name, Arguments, threads) \
  extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ Arguments args)
#define WEFT_DEVICE __device__ __forceinline__
#else
#include "ops/cuda/simt.h"
#endif

namespace weft::gpu {

// The block's dynamic shared memory, aligned to 16 bytes.
template <typename T>
WEFT_DEVICE T* DynamicShared() {
#if defined(__CUDACC__)
  extern __shared__ __align__(16) unsigned char weft_dynamic_shared[];
  return reinterpret_cast<T*>(weft_dynamic_shared);
#else
  return static_cast<T*>(simt::DynamicShared());
#endif
}

// Tells the host, unless that has been done already; the kernel goes on.
WEFT_DEVICE void Raise(GpuAlarm* alarm, int64_t where, int64_t value) {
  if (atomicCAS(&alarm->raised, 0u, 1u) != 0) return;
  alarm->where = where;
  alarm->value = value;
  __threadfence_system();
}

// The indices of [0, n) that are this thread's, of a grid of one dimension:
// for (int64_t i : EachOf(n)). Neighbouring threads have neighbouring indices.
class EachOf {
 public:
  WEFT_DEVICE explicit EachOf(int64_t n) : n_(n) {}
  struct Iterator {
    int64_t i, step;
    WEFT_DEVICE int64_t operator*() const { return i; }
    WEFT_DEVICE void operator++() { i += step; }
    WEFT_DEVICE bool operator!=(int64_t end) const { return i < end; }
  };
  WEFT_DEVICE Iterator begin() const {
    return {int64_t{blockIdx.x} * blockDim.x + threadIdx.x, int64_t{gridDim.x} * blockDim.x};
  }
  WEFT_DEVICE int64_t end() const { return n_; }

 private:
  int64_t n_;
};

}  // namespace weft::gpu

#endif  // WEFT_OPS_CUDA_KERNEL_H_
