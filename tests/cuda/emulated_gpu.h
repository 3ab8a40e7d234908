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
#include "runtime/device/cuda/emulated_cublaslt.h"

namespace weft::tests {

// A driver, a device on it, and the registry of its kernels; with `libraries` also those of the vendor,
// `deterministic` as weft-run's flag.
struct EmulatedGpu {
  explicit EmulatedGpu(const cuda::EmulatedOptions& options = {}, bool libraries = false, bool deterministic = false)
      : driver(options), cublaslt(driver) {
    RegisterCudaKernels(kernels);
    device = *device::CreateCudaDevice(
        driver.driver(), 0, cuda::ImagesOf(modules),
        {.cublaslt = libraries ? &cublaslt.library() : nullptr, .matmul = {.time_algorithms = !deterministic}});
  }
  const std::vector<std::unique_ptr<EmulatedModule>> modules = EmulatedModules();
  cuda::EmulatedDriver driver;
  cuda::lt::EmulatedCublasLt cublaslt;
  KernelRegistry kernels;
  std::unique_ptr<device::Device> device;
};

}  // namespace weft::tests

#endif  // WEFT_TESTS_CUDA_EMULATED_GPU_H_
