// Which of several algorithms runs here, and which is the fastest now.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_MATMUL_TIMING_H_
#define WEFT_RUNTIME_DEVICE_CUDA_MATMUL_TIMING_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/matmul_problem.h"

namespace weft::device {

// Runs each on operands of its own, on a stream of its own, and waits; the index of
// the fastest, an earlier one where the later gains less than 2 %. One that the
// library refuses after all is left out. kResourceExhausted: no memory for operands.
absl::StatusOr<size_t> FastestOf(const CudaContext& context, cuda::Handle handle, const MatmulProblem& problem,
                                 const std::vector<cuda::lt::HeuristicResult>& candidates);

// The same, but the first one that runs, once: its code is loaded, which in a step might wait for work that
// waits for another rank.
absl::StatusOr<size_t> FirstOf(const CudaContext& context, cuda::Handle handle, const MatmulProblem& problem,
                               const std::vector<cuda::lt::HeuristicResult>& candidates);

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_MATMUL_TIMING_H_
