#include "tests/cuda/kernels/gpu.h"

#include <cstdio>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "ops/cuda_kernels.h"
#include "runtime/collective/local/gpu_code.h"
#include "runtime/device/cuda/device.h"
#include "runtime/executor/step_upload.h"

namespace weft::tests {
namespace {

using testing::kGuardBytes;
using testing::Values;

// Tensors are aligned to 64 bytes and to no more.
constexpr size_t kAlignment = 64;

std::unique_ptr<TestGpu>& Instance() {
  static auto* const gpu = new std::unique_ptr<TestGpu>();
  return *gpu;
}

}  // namespace

// A kernel of the GPU over tensors of the host.
class TestGpu::OnDevice : public Kernel {
 public:
  OnDevice(TestGpu& gpu, const KernelSpec& spec, executor::StepUpload& upload, std::unique_ptr<Kernel> kernel)
      : gpu_(gpu), spec_(spec), upload_(upload), kernel_(std::move(kernel)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    Lay(inputs, outputs);
    if (absl::Status status = gpu_.Reserve(bytes_); !status.ok()) return status;
    char* const staging = gpu_.staging_->base();
    char* const memory = gpu_.memory_->base();
    std::memset(staging, 0xff, bytes_);
    for (const auto& [host, place] : places_) std::memcpy(staging + place.offset, host, place.bytes);
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const void* it : inputs) in.push_back(memory + places_.at(it).offset);
    for (void* it : outputs) out.push_back(memory + places_.at(it).offset);
    absl::Status status;
    gpu_.stream_->Submit([&] {
      RunContext own = context;
      own.step = RunContext::kNoStep;
      own.stream = gpu_.stream_->handle();
      status = gpu_.stream_->Copy(memory, staging, bytes_);
      if (status.ok()) status = upload_.Run(context.step, *gpu_.stream_);
      if (status.ok()) status = kernel_->Run(own, in, absl::MakeSpan(out));
      if (status.ok()) status = gpu_.stream_->Copy(staging, memory, bytes_);
    });
    const absl::Status joined = gpu_.stream_->Join();
    if (!status.ok()) return status;
    if (!joined.ok()) return joined;
    for (const auto& [host, place] : places_) {
      std::memcpy(const_cast<void*>(host), staging + place.offset, place.bytes);
    }
    return absl::OkStatus();
  }

 private:
  struct Place {
    size_t offset, bytes;
  };
  // Where each tensor is on the GPU; one that stands in both lists is there once.
  void Lay(absl::Span<const void* const> inputs, absl::Span<void* const> outputs) {
    places_.clear();
    bytes_ = kAlignment;
    const auto place = [&](const void* host, const TensorSpec& spec) {
      const size_t bytes = spec.bytes() + kGuardBytes;
      if (!places_.insert({host, {bytes_, bytes}}).second) return;
      bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    };
    for (size_t i = 0; i < inputs.size(); ++i) place(inputs[i], spec_.inputs[i]);
    for (size_t o = 0; o < outputs.size(); ++o) place(outputs[o], spec_.outputs[o]);
  }

  TestGpu& gpu_;
  const KernelSpec spec_;
  executor::StepUpload& upload_;
  std::unique_ptr<Kernel> kernel_;
  std::map<const void*, Place> places_;
  size_t bytes_ = 0;
};

absl::Status TestGpu::Reserve(size_t bytes) {
  if (bytes <= bytes_) return absl::OkStatus();
  memory_.reset();
  staging_.reset();
  bytes_ = 0;
  auto memory = device_->AllocateArena(static_cast<int64_t>(bytes));
  if (!memory.ok()) return memory.status();
  auto staging = device_->AllocateHostMemory(static_cast<int64_t>(bytes));
  if (!staging.ok()) return staging.status();
  memory_ = *std::move(memory);
  staging_ = *std::move(staging);
  bytes_ = bytes;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TestGpu>> TestGpu::Open(const Options& options) {
  auto gpu = std::make_unique<TestGpu>();
  gpu->options_ = options;
  absl::StatusOr<std::unique_ptr<cuda::Driver>> driver = cuda::OpenDriver();
  if (!driver.ok()) return driver.status();
  gpu->driver_ = *std::move(driver);
  const absl::StatusOr<device::CudaInventory> inventory = device::TakeInventory(*gpu->driver_);
  if (!inventory.ok()) return inventory.status();
  gpu->found_ = inventory->ToString();
  device::CudaLibraries libraries;
  if (options.cublaslt) {
    auto cublaslt = cuda::lt::OpenCublasLt(options.libraries);
    absl::StrAppend(&gpu->found_, "\n",
                    cublaslt.ok() ? (*cublaslt)->ToString() : std::string(cublaslt.status().message()));
    if (cublaslt.ok()) gpu->cublaslt_ = *std::move(cublaslt);
    libraries = {.cublaslt = gpu->cublaslt_.get(), .matmul = {.time_algorithms = false}};
  }
  if (options.cudnn) {
    auto cudnn = cuda::dnn::OpenCudnn(options.libraries);
    absl::StrAppend(&gpu->found_, "\n", cudnn.ok() ? (*cudnn)->ToString() : std::string(cudnn.status().message()));
    if (cudnn.ok()) gpu->cudnn_ = *std::move(cudnn);
    libraries.cudnn = gpu->cudnn_.get();
    libraries.attention = {.deterministic = true,
                           .note = [](const std::string& line) { std::printf("%s\n", line.c_str()); }};
  }
  std::vector<GpuModule> modules = CudaModules();
  modules.push_back(collective::LocalGpuModule());
  auto device = device::CreateCudaDevice(*gpu->driver_, options.ordinal, std::move(modules), libraries);
  if (!device.ok()) return device.status();
  gpu->device_ = *std::move(device);
  auto stream = gpu->device_->CreateStream("test");
  if (!stream.ok()) return stream.status();
  gpu->stream_ = *std::move(stream);
  return gpu;
}

TestGpu& TestGpu::Get() { return *Instance(); }
void TestGpu::Set(std::unique_ptr<TestGpu> gpu) { Instance() = std::move(gpu); }

absl::StatusOr<std::vector<Values>> TestGpu::Run(const KernelRegistry& registry, KernelSpec spec,
                                                 const std::vector<Values>& inputs, const RunContext& context,
                                                 const std::vector<std::pair<int, int>>& in_place) {
  spec.gpu = device_->gpu();
  spec.gpu_workspace = std::make_shared<GpuWorkspace>();
  executor::StepUpload upload(*device_);
  spec.gpu_step_values = upload.values();
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = registry.Create(spec);
  if (!kernel.ok()) return kernel.status();
  if (absl::Status status = upload.Prepare(); !status.ok()) return status;
  spec.gpu_step_values = nullptr;  // uploaded here, not by RunKernel()
  OnDevice on_device(*this, spec, upload, *std::move(kernel));
  return testing::RunKernel(on_device, spec, inputs, context, in_place);
}

}  // namespace weft::tests
