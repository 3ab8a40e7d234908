// What the parts of a CUDA device share: the driver, and the GPU's primary context.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_CONTEXT_H_
#define WEFT_RUNTIME_DEVICE_CUDA_CONTEXT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"

namespace weft::device {

// Thread-safe.
class CudaContext {
 public:
  static absl::StatusOr<std::unique_ptr<CudaContext>> Create(const cuda::Driver& driver, int ordinal);
  ~CudaContext();

  const cuda::Driver& driver() const { return driver_; }
  const std::string& name() const { return name_; }  // "GPU 0 (NVIDIA H200)"

  // The calls of this thread are meant for this GPU from now on. Cheap.
  absl::Status Enter() const { return driver_.Check(driver_.CtxSetCurrent(handle_), "cuCtxSetCurrent"); }
  // As Driver::Check().
  absl::Status Check(cuda::Result result, const std::string& what) const { return driver_.Check(result, what); }
  // The same for calls that happen in a step, which make no text unless they fail.
  absl::Status Check(cuda::Result result, const char* what) const {
    return result == cuda::kSuccess ? absl::OkStatus() : driver_.Check(result, std::string(what));
  }
  absl::StatusOr<int> Attribute(int attribute) const;

 private:
  CudaContext(const cuda::Driver& driver, cuda::Ordinal ordinal, cuda::Handle handle, std::string name)
      : driver_(driver), ordinal_(ordinal), handle_(handle), name_(std::move(name)) {}
  const cuda::Driver& driver_;
  const cuda::Ordinal ordinal_;
  const cuda::Handle handle_;
  const std::string name_;
};

// Device memory, zero; kResourceExhausted says what is free.
absl::StatusOr<std::unique_ptr<Arena>> AllocateCudaArena(const CudaContext& context, int64_t bytes);
// A driver's event, destroyed with the last copy.
absl::StatusOr<std::shared_ptr<void>> CreateCudaEvent(const CudaContext& context);

// Pinned memory of the host, that the GPU reads and writes at the same address.
absl::StatusOr<std::unique_ptr<Arena>> AllocatePinnedArena(const CudaContext& context, int64_t bytes);

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_CONTEXT_H_
