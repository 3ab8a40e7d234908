// What a kernel needs of a GPU: its code, memory, and a way to start it. The
// runtime implements it over the CUDA driver (runtime/device/cuda), tests over
// an emulation (tests/emulation/simt/gpu_testing.h). No CUDA header is needed to use it.
#ifndef WEFT_OPS_ABI_GPU_H_
#define WEFT_OPS_ABI_GPU_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/gpu_alarm.h"
#include "ops/abi/status_macros.h"

namespace weft {

class GpuAttentions;
class GpuMatmuls;

// How many blocks of how many threads, each as x, y, z.
struct GpuGrid {
  uint32_t blocks[3] = {1, 1, 1};
  uint32_t threads[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;  // dynamic, a block

  // "12x1x1 blocks of 256x1x1 threads, 0 bytes shared".
  std::string ToString() const;
};

// `n` items, one a thread, in blocks of `threads`; at least one block.
GpuGrid GridFor(int64_t n, uint32_t threads);

// The compiled kernels of one family: a fat binary, or their emulation. The
// image outlives whoever loads it; no bytes: built without a CUDA toolkit.
struct GpuModule {
  std::string name;
  const void* image = nullptr;
  size_t bytes = 0;
};

struct GpuProperties {
  int major = 0, minor = 0;  // of the compute capability
  int multiprocessors = 1;
  int64_t shared_bytes = 48 * 1024;  // dynamic, that a block may ask for
};

// Thread-safe; outlives what it makes. What says "enqueues" is called on the
// thread of `stream` (a device::Stream's handle()), does not wait or allocate.
class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual const GpuProperties& properties() const = 0;

  // What this thread asks of the driver from now on is meant for this GPU: for
  // libraries that go by the thread's. Cheap.
  virtual absl::Status Enter() { return absl::OkStatus(); }

  // One more module, in text that the driver translates (PTX); nothing where there is one of that name. Its kernels are
  // valid as long as the GPU.
  virtual absl::Status Add(const std::string& module, const std::string& text) {
    return absl::UnimplementedError("GPU module `" + module + "`: text is not translated here");
  }

  // A kernel's handle, valid as long as the GPU. `argument_bytes`: the size of
  // its arguments. `shared_bytes`: the most dynamic shared memory of a launch.
  // kNotFound names module and kernel; kFailedPrecondition: no code for this GPU.
  virtual absl::StatusOr<void*> Find(const std::string& module, const std::string& kernel, size_t argument_bytes,
                                     int64_t shared_bytes) = 0;

  // Device memory, aligned to 256 bytes, that goes with the last copy of the pointer.
  virtual absl::StatusOr<std::shared_ptr<void>> Allocate(size_t bytes) = 0;

  // An alarm that is not raised. Once it is, Join() of every stream of the
  // device returns describe(alarm). The pointer is for kernels' arguments.
  virtual absl::StatusOr<std::shared_ptr<GpuAlarm>> CreateAlarm(
      std::function<absl::Status(const GpuAlarm&)> describe) = 0;

  // A vendor's matrix products (gpu_matmul.h); null: there are none here.
  virtual GpuMatmuls* matmuls() { return nullptr; }
  // A vendor's fused attention (gpu_attention.h); null: there is none here.
  virtual GpuAttentions* attentions() { return nullptr; }

  // Enqueues a kernel; its arguments are copied.
  virtual absl::Status Launch(void* kernel, const GpuGrid& grid, const void* arguments, void* stream) = 0;

  // Enqueues a copy within the device, or bytes of one value.
  virtual absl::Status Copy(void* to, const void* from, size_t bytes, void* stream) = 0;
  virtual absl::Status Fill(void* to, uint8_t value, size_t bytes, void* stream) = 0;

  // Points in streams' work, for what orders streams among each other.
  // Enqueues: marks the point; later work of `stream` begins after the point
  // that the event marks now.
  virtual absl::StatusOr<std::shared_ptr<void>> CreateEvent() = 0;
  virtual absl::Status Record(void* event, void* stream) = 0;
  virtual absl::Status Wait(void* event, void* stream) = 0;
  // Whether the point that the event marks now is behind the GPU. Any thread.
  virtual absl::StatusOr<bool> Reached(void* event) = 0;
};

// A kernel of the GPU with the type of its arguments, a plain struct that host
// and device lay out alike.
template <typename Arguments>
class GpuKernel {
 public:
  static_assert(std::is_trivially_copyable_v<Arguments> && sizeof(Arguments) <= 4096);

  static absl::StatusOr<GpuKernel> Find(Gpu* gpu, const std::string& module, const std::string& name,
                                        int64_t shared_bytes = 0) {
    WEFT_ASSIGN_OR_RETURN(void* found, gpu->Find(module, name, sizeof(Arguments), shared_bytes));
    return GpuKernel(gpu, found);
  }

  // Enqueues.
  absl::Status Launch(const GpuGrid& grid, const Arguments& arguments, void* stream) const {
    return gpu_->Launch(handle_, grid, &arguments, stream);
  }

 private:
  GpuKernel(Gpu* gpu, void* handle) : gpu_(gpu), handle_(handle) {}
  Gpu* gpu_;
  void* handle_;
};

// Device memory for kernels of which at most one runs at a time, such as those of
// one stream: see Workspace. Not thread-safe.
class GpuWorkspace {
 public:
  // At least `bytes` from now on; only while kernels are created.
  absl::Status Reserve(Gpu* gpu, size_t bytes);

  size_t bytes() const { return bytes_; }

  // Another one, in the same sense: for kernels that run others in between, which use this one.
  std::shared_ptr<GpuWorkspace> Beside() {
    if (beside_ == nullptr) beside_ = std::make_shared<GpuWorkspace>();
    return beside_;
  }

  // To be asked for in each Run(): Reserve() moves it.
  template <typename T>
  T* data() const {
    return static_cast<T*>(memory_.get());
  }

 private:
  std::shared_ptr<void> memory_;
  std::shared_ptr<GpuWorkspace> beside_;
  size_t bytes_ = 0;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_GPU_H_
