// An emulated GPU with all kernels, for whole plans.
#ifndef WEFT_TESTS_CUDA_EMULATED_GPU_H_
#define WEFT_TESTS_CUDA_EMULATED_GPU_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ops/abi/registry.h"
#include "ops/cuda_kernels.h"
#include "runtime/device/cuda/device.h"
#include "tests/emulation/cuda/cublaslt.h"
#include "tests/emulation/cuda/cudnn.h"
#include "tests/emulation/cuda/driver.h"
#include "tests/emulation/simt/emulated.h"

namespace weft::tests {

// A driver, a device on it, and the registry of its kernels; with `libraries` also those of the vendor,
// `deterministic` as weft-run's flag.
struct EmulatedGpu {
  explicit EmulatedGpu(const cuda::EmulatedOptions& options = {}, bool libraries = false, bool deterministic = false,
                       const cuda::dnn::EmulatedCudnnOptions& dnn = {})
      : driver(options), cublaslt(driver), cudnn(driver, dnn) {
    RegisterCudaKernels(kernels);
    device = *device::CreateCudaDevice(
        driver.driver(), 0, cuda::ImagesOf(modules),
        {.cublaslt = libraries ? &cublaslt.library() : nullptr,
         .matmul = {.time_algorithms = !deterministic},
         .cudnn = libraries ? &cudnn.library() : nullptr,
         .attention = {.deterministic = deterministic, .note = [this](const std::string& line) {
                         std::lock_guard<std::mutex> lock(mutex);
                         notes.push_back(line);
                       }}});
  }
  const std::vector<std::unique_ptr<EmulatedModule>> modules = EmulatedModules();
  cuda::EmulatedDriver driver;
  cuda::lt::EmulatedCublasLt cublaslt;
  cuda::dnn::EmulatedCudnn cudnn;
  std::mutex mutex;                // guards what follows
  std::vector<std::string> notes;  // about attention
  KernelRegistry kernels;
  std::unique_ptr<device::Device> device;
};

}  // namespace weft::tests

#endif  // WEFT_TESTS_CUDA_EMULATED_GPU_H_
