// Matrix products of a vendor's library, as kernels see them. The runtime
// implements it over cuBLASLt (runtime/device/cuda/matmul.h).
#ifndef WEFT_OPS_ABI_GPU_MATMUL_H_
#define WEFT_OPS_ABI_GPU_MATMUL_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"

namespace weft {

// Matrices of a batch in device memory; strides in elements, 0 where an extent is 1.
struct GpuMatrix {
  DType type = DType::kF32;
  int64_t batch_stride = 0, row_stride = 0, column_stride = 0;
  int64_t alignment = 64;  // bytes, of every address that Run() gets
};

// result = alpha * left right + beta * added, for every matrix of a batch: left
// is rows x inner, right is inner x columns. Sums are taken in float32.
struct GpuMatmulSpec {
  int64_t rows = 1, columns = 1, inner = 1, batch = 1;
  GpuMatrix left, right, result;
  float alpha = 1, beta = 0;
  bool tf32 = false;  // float32 operands may be rounded to TF32
  // What is done with the sums before they are rounded to the result's type; of one matrix, not a batch.
  bool bias = false;           // adds a vector of `columns`, of the result's type, to every row
  bool gelu = false;           // then GELU, by its tanh approximation
  bool keep = false;           // writes what GELU is applied to, as the result is laid out
  bool bias_gradient = false;  // writes right's sums over `inner`, a vector of `columns` of the result's type
};

// In device memory; those that the spec does not ask for are null.
struct GpuMatmulAddresses {
  const void* left = nullptr;
  const void* right = nullptr;
  void* result = nullptr;
  const void* added = nullptr;  // laid out as the result; null: what is in the result
  const void* bias = nullptr;
  void* kept = nullptr;
  void* bias_gradient = nullptr;
};

// A product with its algorithm. Of one thread at a time.
class GpuMatmul {
 public:
  virtual ~GpuMatmul() = default;
  virtual size_t workspace_bytes() const = 0;
  // Enqueues. `workspace`: as many bytes, aligned to 256, that nothing else uses until this has run.
  virtual absl::Status Run(const GpuMatmulAddresses& addresses, void* workspace, void* stream) = 0;
};

// Thread-safe; outlives what it makes.
class GpuMatmuls {
 public:
  virtual ~GpuMatmuls() = default;
  // May take a while: algorithms may be timed. The same spec gets the same algorithm as long as the
  // library lives. kUnimplemented: the library has no way to do it.
  virtual absl::StatusOr<std::unique_ptr<GpuMatmul>> Create(const GpuMatmulSpec& spec) = 0;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_GPU_MATMUL_H_
