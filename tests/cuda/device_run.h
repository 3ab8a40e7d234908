// One kernel on an emulated GPU, its tensors in device memory.
#ifndef WEFT_TESTS_CUDA_DEVICE_RUN_H_
#define WEFT_TESTS_CUDA_DEVICE_RUN_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {

// What RunKernel() does, with the GPU's kernel, `in_place` too; calls `created`, if there is one, when the kernel is
// there. A tensor has 1 MiB at most.
absl::StatusOr<std::vector<testing::Values>> RunOnDevice(EmulatedGpu& gpu, KernelSpec spec,
                                                         const std::vector<testing::Values>& inputs,
                                                         const std::function<void()>& created = nullptr,
                                                         const RunContext& context = {},
                                                         const std::vector<std::pair<int, int>>& in_place = {});

}  // namespace weft::tests

#endif  // WEFT_TESTS_CUDA_DEVICE_RUN_H_
