#include "runtime/collective/local/gpu_code.h"

// See tools/build_defs/cuda.bzl.
extern "C" const unsigned char weft_cuda_local[];
extern "C" const unsigned char weft_cuda_local_end[];

namespace weft::collective {

GpuModule LocalGpuModule() {
  return {"local", weft_cuda_local, static_cast<size_t>(weft_cuda_local_end - weft_cuda_local)};
}

}  // namespace weft::collective
