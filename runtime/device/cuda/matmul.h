// Matrix products by cuBLASLt.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_MATMUL_H_
#define WEFT_RUNTIME_DEVICE_CUDA_MATMUL_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/gpu_matmul.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/cublaslt.h"

namespace weft::device {

struct MatmulOptions {
  std::string algorithm_file;          // see cuda::AlgorithmFile; "": none
  bool time_algorithms = true;         // false: the library's own first choice is taken, and no file is read
  size_t workspace_bytes = 32u << 20;  // the most that a product may ask for
  int candidates = 8;                  // how many of the library's choices are timed
  // Gets a line for people, such as a damaged file; may be null.
  std::function<void(const std::string&)> note;
};

// `context` and `library` outlive it.
absl::StatusOr<std::unique_ptr<GpuMatmuls>> CreateCublasLtMatmuls(const CudaContext& context,
                                                                  const cuda::lt::CublasLt& library,
                                                                  MatmulOptions options);

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_MATMUL_H_
