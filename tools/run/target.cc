#include "tools/run/target.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/cpu_kernels.h"
#include "ops/cuda_kernels.h"
#include "runtime/collective/local/gpu_code.h"
#include "runtime/device/cuda/device.h"

namespace weft::run {

absl::StatusOr<std::unique_ptr<Target>> OpenTarget(const plan::Plan& plan, const Processes& processes) {
  auto target = std::make_unique<Target>();
  if (plan.header().target() != "cuda") {
    RegisterCpuKernels(target->kernels);
    return target;
  }
  if (!processes.alone()) {
    return absl::UnimplementedError(
        absl::StrCat("target cuda: expected one process, whose ranks share a GPU, got ", processes.size()));
  }
  absl::StatusOr<std::unique_ptr<cuda::Driver>> driver = cuda::OpenDriver();
  if (!driver.ok()) return driver.status();
  absl::StatusOr<device::CudaInventory> inventory = device::TakeInventory(**driver);
  if (!inventory.ok()) return inventory.status();
  std::vector<GpuModule> modules = CudaModules();
  modules.push_back(collective::LocalGpuModule());
  absl::StatusOr<std::unique_ptr<device::Device>> device = device::CreateCudaDevice(**driver, 0, std::move(modules));
  if (!device.ok()) return device.status();
  RegisterCudaKernels(target->kernels);
  target->driver = *std::move(driver);
  target->device = *std::move(device);
  target->found = inventory->ToString();
  return target;
}

std::string DescribeDevices() {
  std::string text = absl::StrCat("cpu: ", std::max(1u, std::thread::hardware_concurrency()), " cores\n");
  const absl::StatusOr<std::unique_ptr<cuda::Driver>> driver = cuda::OpenDriver();
  if (!driver.ok()) return absl::StrCat(text, std::string(driver.status().message()), "\n");
  const absl::StatusOr<device::CudaInventory> inventory = device::TakeInventory(**driver);
  return absl::StrCat(text, inventory.ok() ? inventory->ToString() : std::string(inventory.status().message()), "\n");
}

}  // namespace weft::run
