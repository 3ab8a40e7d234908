// A matrix product in cuBLASLt's words.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_MATMUL_PROBLEM_H_
#define WEFT_RUNTIME_DEVICE_CUDA_MATMUL_PROBLEM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ops/abi/gpu_matmul.h"
#include "runtime/device/cuda/cublaslt.h"

namespace weft::device {

// cuBLASLt's matrices are column-major: it is asked for the transposed product,
// D = op(A) op(B) with D our result, A our right and B our left operand; m is our
// columns, n our rows, k our inner dimension. Of one thread at a time.
class MatmulProblem {
 public:
  // kUnimplemented for strides that no leading dimension tells.
  static absl::StatusOr<MatmulProblem> Create(const cuda::lt::CublasLt& library, const GpuMatmulSpec& spec);

  // All that the choice of an algorithm depends on, but device and library.
  const std::string& key() const { return key_; }

  // What the library thinks of, best first; kUnimplemented: nothing.
  absl::StatusOr<std::vector<cuda::lt::HeuristicResult>> Candidates(cuda::Handle handle, size_t workspace_bytes,
                                                                    int most) const;
  // What an algorithm that was kept needs; an error if it does not fit any more.
  absl::StatusOr<cuda::lt::HeuristicResult> Check(cuda::Handle handle, const cuda::lt::Algorithm& algorithm) const;
  absl::Status Enqueue(cuda::Handle handle, const cuda::lt::HeuristicResult& choice,
                       const GpuMatmulAddresses& addresses, void* workspace, cuda::Handle stream) const;
  const GpuMatmulSpec& spec() const { return spec_; }

 private:
  using Descriptor = std::shared_ptr<void>;
  MatmulProblem(const cuda::lt::CublasLt& library, const GpuMatmulSpec& spec) : library_(&library), spec_(spec) {}
  absl::Status Describe();
  absl::Status DescribeEpilogue();
  absl::StatusOr<Descriptor> Layout(const GpuMatrix& matrix, int64_t rows, int64_t columns, int64_t ld) const;
  template <typename T>
  absl::Status Set(int attribute, T value) const;

  const cuda::lt::CublasLt* library_;
  GpuMatmulSpec spec_;
  Descriptor operation_, a_, b_, d_;
  std::string key_;
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_MATMUL_PROBLEM_H_
