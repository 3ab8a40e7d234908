#include "tools/run/target.h"

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/cpu_kernels.h"
#include "ops/cuda_kernels.h"
#include "runtime/collective/local/gpu_code.h"
#include "runtime/device/cuda/algorithms.h"
#include "runtime/device/cuda/device.h"
#include "runtime/plan/devices.h"

namespace weft::run {
namespace {

absl::Status OpenDriver(Target& target, device::CudaInventory& inventory) {
  absl::StatusOr<std::unique_ptr<cuda::Driver>> driver = cuda::OpenDriver();
  if (!driver.ok()) return driver.status();
  absl::StatusOr<device::CudaInventory> found = device::TakeInventory(**driver);
  if (!found.ok()) return found.status();
  target.driver = *std::move(driver);
  inventory = *std::move(found);
  target.found = inventory.ToString();
  return absl::OkStatus();
}

// What is said of a library that there may be, and of what is done without it.
template <typename Library>
std::string Describe(const absl::StatusOr<std::unique_ptr<Library>>& library, const char* without) {
  if (library.ok()) return (*library)->ToString();
  return absl::StrCat(std::string(library.status().message()), without);
}

// Of this machine's CPU.
std::string DescribeProducts(const absl::StatusOr<std::string>& library) {
  if (library.ok()) return *library;
  return absl::StrCat(std::string(library.status().message()),
                      "; small float32 matrices are multiplied by plain loops, slowly");
}

device::MatmulOptions MatmulOptionsOf(const Request& request, std::function<void(const std::string&)> note) {
  return {.algorithm_file = request.algorithm_cache.empty() ? cuda::DefaultAlgorithmFile() : request.algorithm_cache,
          .time_algorithms = !request.deterministic,
          .note = std::move(note)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Target>> OpenTarget(const plan::Plan& plan, const Request& request, Processes& processes,
                                                   std::function<void(const std::string&)> note) {
  auto target = std::make_unique<Target>();
  if (plan::FindDeviceKind(plan.header().target())->host) {
    RegisterCpuKernels(target->kernels);
    if (const auto library = FloatProductLibrary(); !library.ok()) target->found = DescribeProducts(library);
    return target;
  }
  if (!processes.alone()) PrepareDriver();
  device::CudaInventory inventory;
  if (absl::Status status = processes.Agree(OpenDriver(*target, inventory)); !status.ok()) return status;
  int ordinal = 0;
  if (!processes.alone()) {
    const absl::StatusOr<int> chosen = ChooseGpu(*target->driver, inventory, processes);
    if (!chosen.ok()) return chosen.status();
    ordinal = *chosen;
    absl::StatusOr<NcclRank> joined = JoinNccl(request.cuda_libs, processes);
    if (!joined.ok()) return joined.status();
    target->nccl = *std::move(joined);
    absl::StrAppend(&target->found, "\n", target->nccl.nccl->ToString());
  }
  std::vector<GpuModule> modules = CudaModules();
  modules.push_back(collective::LocalGpuModule());
  absl::StatusOr<std::unique_ptr<cuda::lt::CublasLt>> cublaslt = cuda::lt::OpenCublasLt(request.cuda_libs);
  absl::StrAppend(&target->found, "\n", Describe(cublaslt, "; matrices are multiplied by our own kernels"));
  if (cublaslt.ok()) target->cublaslt = *std::move(cublaslt);
  absl::StatusOr<std::unique_ptr<cuda::dnn::Cudnn>> cudnn = cuda::dnn::OpenCudnn(request.cuda_libs);
  absl::StrAppend(&target->found, "\n", Describe(cudnn, "; attention is by our own kernels"));
  if (cudnn.ok()) target->cudnn = *std::move(cudnn);
  absl::StatusOr<std::unique_ptr<device::Device>> device =
      device::CreateCudaDevice(*target->driver, ordinal, std::move(modules),
                               {.cublaslt = target->cublaslt.get(),
                                .matmul = MatmulOptionsOf(request, note),
                                .cudnn = target->cudnn.get(),
                                .attention = {.deterministic = request.deterministic, .note = std::move(note)}});
  if (!device.ok()) return device.status();
  RegisterCudaKernels(target->kernels);
  RegisterCpuKernels(target->host_kernels);
  target->device = *std::move(device);
  if (!processes.alone()) MakeCommunicator(target->nccl, target->device->gpu(), processes);
  return target;
}

std::string DescribeDevices(const Request& request) {
  std::string text =
      absl::StrCat("cpu: ", std::max(1u, std::thread::hardware_concurrency()), " cores\n", LargeProductLibrary(),
                   " for large products\n", DescribeProducts(FloatProductLibrary()), "\n");
  const std::vector<GpuModule> modules = CudaModules();
  if (std::all_of(modules.begin(), modules.end(), [](const GpuModule& module) { return module.bytes == 0; })) {
    absl::StrAppend(&text, "this program was built without a CUDA toolkit and has no code for GPUs\n");
  }
  const absl::StatusOr<std::unique_ptr<cuda::Driver>> driver = cuda::OpenDriver();
  if (driver.ok()) {
    const absl::StatusOr<device::CudaInventory> inventory = device::TakeInventory(**driver);
    absl::StrAppend(&text, inventory.ok() ? inventory->ToString() : std::string(inventory.status().message()), "\n");
  } else {
    absl::StrAppend(&text, std::string(driver.status().message()), "\n");
  }
  const absl::StatusOr<std::unique_ptr<cuda::lt::CublasLt>> cublaslt = cuda::lt::OpenCublasLt(request.cuda_libs);
  const absl::StatusOr<std::unique_ptr<cuda::dnn::Cudnn>> cudnn = cuda::dnn::OpenCudnn(request.cuda_libs);
  const absl::StatusOr<std::unique_ptr<nccl::OpenedNccl>> nccl = nccl::OpenNccl(request.cuda_libs);
  return absl::StrCat(text, Describe(cublaslt, ""), "\n", Describe(cudnn, ""), "\n", Describe(nccl, ""), "\n");
}

}  // namespace weft::run
