// A GPU as a device, over a CUDA driver.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_DEVICE_H_
#define WEFT_RUNTIME_DEVICE_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/gpu.h"
#include "runtime/device/cuda/attention.h"
#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/cuda/cudnn.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/matmul.h"
#include "runtime/device/device.h"

namespace weft::device {

// What a driver has.
struct CudaInventory {
  struct Gpu {
    std::string name;
    int major = 0, minor = 0;  // of the compute capability
    int multiprocessors = 0;
    int64_t memory_bytes = 0;
  };
  int driver_version = 0;  // 13000: for CUDA 13.0
  std::vector<Gpu> gpus;

  // "CUDA driver 13.0, 2 GPUs" and a line a GPU: "  0: NVIDIA H200, compute
  // capability 9.0, 132 multiprocessors, 139.8 GiB".
  std::string ToString() const;
};
absl::StatusOr<CudaInventory> TakeInventory(const cuda::Driver& driver);

// What kernels may use beside our own code; each outlives the device, null: not there.
struct CudaLibraries {
  const cuda::lt::CublasLt* cublaslt = nullptr;
  MatmulOptions matmul;
  const cuda::dnn::Cudnn* cudnn = nullptr;
  AttentionOptions attention;
};

// GPU number `ordinal`, through its primary context. `modules`: the code of the
// kernels that may run there, loaded when first asked for. The driver outlives
// the device. Memory that ranks of one device ask for counts together.
absl::StatusOr<std::unique_ptr<Device>> CreateCudaDevice(const cuda::Driver& driver, int ordinal,
                                                         std::vector<GpuModule> modules,
                                                         const CudaLibraries& libraries = {});

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_DEVICE_H_
