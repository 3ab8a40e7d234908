// An emulated GPU with all kernels, for whole plans.
#ifndef WEFT_TESTS_CUDA_EMULATED_GPU_H_
#define WEFT_TESTS_CUDA_EMULATED_GPU_H_

#include <memory>
#include <vector>

#include "ops/abi/registry.h"
#include "ops/cuda/emulated.h"
#include "ops/cuda_kernels.h"
#include "runtime/device/cuda/device.h"
#include "runtime/device/cuda/emulated.h"

namespace weft::tests {

// A driver, a device on it, and the registry of its kernels.
struct EmulatedGpu {
  explicit EmulatedGpu(const cuda::EmulatedOptions& options = {}) : driver(options) {
    RegisterCudaKernels(kernels);
    device = *device::CreateCudaDevice(driver.driver(), 0, cuda::ImagesOf(modules));
  }
  const std::vector<std::unique_ptr<EmulatedModule>> modules = EmulatedModules();
  cuda::EmulatedDriver driver;
  KernelRegistry kernels;
  std::unique_ptr<device::Device> device;
};

}  // namespace weft::tests

#endif  // WEFT_TESTS_CUDA_EMULATED_GPU_H_
