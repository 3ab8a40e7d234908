// The GPU that the tests of this program run on, and how a kernel is run there.
#ifndef WEFT_TESTS_CUDA_KERNELS_GPU_H_
#define WEFT_TESTS_CUDA_KERNELS_GPU_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/cuda/cudnn.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"
#include "tests/support/kernel_testing.h"

namespace weft::tests {

class TestGpu {
 public:
  struct Options {
    int ordinal = 0;
    std::string libraries;  // folder with cuBLASLt, cuDNN and NCCL; "": where the system has them
    bool cublaslt = true;   // if there is one
    bool cudnn = true;      // if there is one
  };
  // kUnavailable if the machine has no driver or no GPU.
  static absl::StatusOr<std::unique_ptr<TestGpu>> Open(const Options& options);
  // Of this program, once main() has opened it.
  static TestGpu& Get();
  static void Set(std::unique_ptr<TestGpu> gpu);

  // What testing::GpuRunner is: tensors go to device memory with what surrounds them, all else is poisoned.
  absl::StatusOr<std::vector<testing::Values>> Run(const KernelRegistry& registry, KernelSpec spec,
                                                   const std::vector<testing::Values>& inputs,
                                                   const RunContext& context,
                                                   const std::vector<std::pair<int, int>>& in_place);

  device::Device& device() { return *device_; }
  const std::string& found() const { return found_; }  // for people
  const Options& options() const { return options_; }

 private:
  class OnDevice;
  absl::Status Reserve(size_t bytes);

  Options options_;
  std::string found_;
  std::unique_ptr<cuda::Driver> driver_;
  std::unique_ptr<cuda::lt::CublasLt> cublaslt_;
  std::unique_ptr<cuda::dnn::Cudnn> cudnn_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Stream> stream_;
  std::unique_ptr<device::Arena> memory_, staging_;  // grow
  size_t bytes_ = 0;
};

}  // namespace weft::tests

#endif  // WEFT_TESTS_CUDA_KERNELS_GPU_H_
