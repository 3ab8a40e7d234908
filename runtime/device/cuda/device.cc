#include "runtime/device/cuda/device.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/gpu.h"
#include "runtime/device/cuda/stream.h"
#include "runtime/device/host/device.h"

namespace weft::device {
namespace {

class CudaDevice : public Device {
 public:
  CudaDevice(std::unique_ptr<CudaContext> context, std::unique_ptr<CudaGpu> gpu)
      : context_(std::move(context)), gpu_(std::move(gpu)) {}
  std::string name() const override { return context_->name(); }
  bool host_addressable() const override { return false; }
  bool captures() const override { return true; }
  Gpu* gpu() override { return gpu_.get(); }
  absl::StatusOr<std::unique_ptr<Arena>> AllocateArena(int64_t bytes) override {
    return AllocateCudaArena(*context_, bytes);
  }
  absl::StatusOr<std::unique_ptr<Arena>> AllocateHostMemory(int64_t bytes) override {
    return AllocatePinnedArena(*context_, bytes);
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateStream(const std::string& name) override {
    return MakeStream(name, /*urgent=*/false);
  }
  absl::StatusOr<std::unique_ptr<Stream>> CreateUrgentStream(const std::string& name) override {
    return MakeStream(name, /*urgent=*/true);
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override { return CudaEvent::Create(*context_); }

 private:
  absl::StatusOr<std::unique_ptr<Stream>> MakeStream(const std::string& name, bool urgent) {
    absl::StatusOr<std::unique_ptr<Stream>> host = host_->CreateStream(name);
    if (!host.ok()) return host.status();
    return CudaStream::Create(*context_, *std::move(host), [gpu = gpu_.get()] { return gpu->CheckAlarms(); }, urgent);
  }

  const std::unique_ptr<CudaContext> context_;
  const std::unique_ptr<CudaGpu> gpu_;
  const std::unique_ptr<Device> host_ = CreateHostDevice();
};

}  // namespace

std::string CudaInventory::ToString() const {
  std::string text = absl::StrCat("CUDA driver ", driver_version / 1000, ".", driver_version % 1000 / 10, ", ",
                                  gpus.size(), gpus.size() == 1 ? " GPU" : " GPUs");
  for (size_t i = 0; i < gpus.size(); ++i) {
    const Gpu& gpu = gpus[i];
    absl::StrAppendFormat(&text, "\n  %d: %s, compute capability %d.%d, %d multiprocessors, %.1f GiB", i, gpu.name,
                          gpu.major, gpu.minor, gpu.multiprocessors, static_cast<double>(gpu.memory_bytes) * 0x1.0p-30);
  }
  return text;
}

absl::StatusOr<CudaInventory> TakeInventory(const cuda::Driver& driver) {
  CudaInventory inventory;
  int count = 0;
  absl::Status status = driver.Check(driver.DriverGetVersion(&inventory.driver_version), "cuDriverGetVersion");
  if (status.ok()) status = driver.Check(driver.DeviceGetCount(&count), "cuDeviceGetCount");
  for (int i = 0; i < count && status.ok(); ++i) {
    CudaInventory::Gpu gpu;
    cuda::Ordinal device = 0;
    char name[256] = {};
    size_t bytes = 0;
    for (const cuda::Result result :
         {driver.DeviceGet(&device, i), driver.DeviceGetName(name, sizeof(name), device),
          driver.DeviceTotalMem(&bytes, device),
          driver.DeviceGetAttribute(&gpu.major, cuda::kComputeCapabilityMajor, device),
          driver.DeviceGetAttribute(&gpu.minor, cuda::kComputeCapabilityMinor, device),
          driver.DeviceGetAttribute(&gpu.multiprocessors, cuda::kMultiprocessorCount, device)}) {
      if (status.ok()) status = driver.Check(result, absl::StrCat("GPU ", i, ": properties"));
    }
    gpu.name = name;
    gpu.memory_bytes = static_cast<int64_t>(bytes);
    inventory.gpus.push_back(std::move(gpu));
  }
  if (!status.ok()) return status;
  return inventory;
}

absl::StatusOr<std::unique_ptr<Device>> CreateCudaDevice(const cuda::Driver& driver, int ordinal,
                                                         std::vector<GpuModule> modules,
                                                         const CudaLibraries& libraries) {
  absl::StatusOr<std::unique_ptr<CudaContext>> context = CudaContext::Create(driver, ordinal);
  if (!context.ok()) return context.status();
  absl::StatusOr<std::unique_ptr<CudaGpu>> gpu = CudaGpu::Create(**context, std::move(modules));
  if (!gpu.ok()) return gpu.status();
  if (libraries.cublaslt != nullptr) {
    absl::StatusOr<std::unique_ptr<GpuMatmuls>> matmuls =
        CreateCublasLtMatmuls(**context, *libraries.cublaslt, libraries.matmul);
    if (!matmuls.ok()) return matmuls.status();
    (*gpu)->set_matmuls(*std::move(matmuls));
  }
  if (libraries.cudnn != nullptr) {
    absl::StatusOr<std::unique_ptr<GpuAttentions>> attentions =
        CreateCudnnAttentions(**context, *libraries.cudnn, libraries.attention);
    if (!attentions.ok()) return attentions.status();
    (*gpu)->set_attentions(*std::move(attentions));
  }
  return std::make_unique<CudaDevice>(*std::move(context), *std::move(gpu));
}

}  // namespace weft::device
