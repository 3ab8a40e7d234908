#include "runtime/device/cuda/gpu.h"

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"

namespace weft::device {
namespace {

constexpr int64_t kSharedWithoutAsking = 48 * 1024;

cuda::Address AddressOf(const void* pointer) { return reinterpret_cast<cuda::Address>(pointer); }

}  // namespace

absl::StatusOr<std::unique_ptr<CudaGpu>> CudaGpu::Create(const CudaContext& context, std::vector<GpuModule> modules) {
  const absl::StatusOr<int> major = context.Attribute(cuda::kComputeCapabilityMajor);
  const absl::StatusOr<int> minor = context.Attribute(cuda::kComputeCapabilityMinor);
  const absl::StatusOr<int> multiprocessors = context.Attribute(cuda::kMultiprocessorCount);
  const absl::StatusOr<int> shared = context.Attribute(cuda::kMaxSharedBytesOptin);
  for (const auto* it : {&major, &minor, &multiprocessors, &shared}) {
    if (!it->ok()) return it->status();
  }
  if (*major < 8) {
    return absl::FailedPreconditionError(
        absl::StrCat(context.name(), ": expected a compute capability of 8.0 or more, got ", *major, ".", *minor));
  }
  const GpuProperties properties{
      .major = *major, .minor = *minor, .multiprocessors = *multiprocessors, .shared_bytes = *shared};
  return std::unique_ptr<CudaGpu>(new CudaGpu(context, std::move(modules), properties));
}

CudaGpu::~CudaGpu() {
  context_.Enter().IgnoreError();
  for (const auto& [name, handle] : loaded_) context_.driver().ModuleUnload(handle);
}

absl::StatusOr<cuda::Handle> CudaGpu::Load(const std::string& name) {
  if (const auto found = loaded_.find(name); found != loaded_.end()) return found->second;
  const auto module =
      std::find_if(modules_.begin(), modules_.end(), [&](const GpuModule& module) { return module.name == name; });
  if (module == modules_.end()) return absl::NotFoundError(absl::StrCat("GPU module `", name, "`: not known"));
  if (module->bytes == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "GPU module `", name, "`: this program was built without a CUDA toolkit and has no code for GPUs"));
  }
  return LoadImage(name, module->image);
}

absl::StatusOr<cuda::Handle> CudaGpu::LoadImage(const std::string& name, const void* image) {
  cuda::Handle handle = nullptr;
  const cuda::Result result = context_.driver().ModuleLoadData(&handle, image);
  if (absl::Status status = context_.Check(result, absl::StrCat(context_.name(), ": GPU module `", name, "`"));
      !status.ok()) {
    return result == cuda::kNoBinaryForGpu ? absl::FailedPreconditionError(std::string(status.message())) : status;
  }
  loaded_[name] = handle;
  return handle;
}

absl::Status CudaGpu::Add(const std::string& module, const std::string& text) {
  if (absl::Status status = context_.Enter(); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  return loaded_.count(module) != 0 ? absl::OkStatus() : LoadImage(module, text.c_str()).status();
}

absl::StatusOr<void*> CudaGpu::Find(const std::string& module, const std::string& kernel, size_t argument_bytes,
                                    int64_t shared_bytes) {
  if (absl::Status status = context_.Enter(); !status.ok()) return status;
  const cuda::Driver& driver = context_.driver();
  const std::string name = absl::StrCat(module, ".", kernel);
  std::lock_guard<std::mutex> lock(mutex_);
  const absl::StatusOr<cuda::Handle> loaded = Load(module);
  if (!loaded.ok()) return loaded.status();
  cuda::Handle handle = nullptr;
  const cuda::Result result = driver.ModuleGetFunction(&handle, *loaded, kernel.c_str());
  if (result == cuda::kNotFound) return absl::NotFoundError(absl::StrCat("GPU kernel ", name, ": not in its module"));
  if (absl::Status status = context_.Check(result, absl::StrCat("GPU kernel ", name)); !status.ok()) return status;
  // Now, not by its first launch: that might wait for all the GPU does, which may itself wait for another rank.
  if (driver.FuncLoad) {
    const absl::Status status = context_.Check(driver.FuncLoad(handle), absl::StrCat("GPU kernel ", name, ": load"));
    if (!status.ok()) return status;
  }
  size_t offset = 0, bytes = 0;
  if (driver.FuncGetParamInfo && driver.FuncGetParamInfo(handle, 0, &offset, &bytes) == cuda::kSuccess &&
      bytes != argument_bytes) {
    return absl::InternalError(
        absl::StrCat("GPU kernel ", name, ": expected arguments of ", bytes, " bytes, got ", argument_bytes));
  }
  if (shared_bytes > properties_.shared_bytes) {
    return absl::UnimplementedError(absl::StrCat("GPU kernel ", name, ": expected at most ", properties_.shared_bytes,
                                                 " bytes of shared memory, got ", shared_bytes));
  }
  if (shared_bytes > kSharedWithoutAsking) {
    const absl::Status status =
        context_.Check(driver.FuncSetAttribute(handle, cuda::kMaxDynamicSharedBytes, static_cast<int>(shared_bytes)),
                       absl::StrCat("GPU kernel ", name, ": ", shared_bytes, " bytes of shared memory"));
    if (!status.ok()) return status;
  }
  functions_.push_back({name, handle});
  return &functions_.back();
}

absl::StatusOr<std::shared_ptr<void>> CudaGpu::Allocate(size_t bytes) {
  absl::StatusOr<std::unique_ptr<Arena>> arena = AllocateCudaArena(context_, static_cast<int64_t>(bytes));
  if (!arena.ok()) return arena.status();
  const std::shared_ptr<Arena> owner = *std::move(arena);
  return std::shared_ptr<void>(owner, owner->base());
}

absl::StatusOr<std::shared_ptr<GpuAlarm>> CudaGpu::CreateAlarm(std::function<absl::Status(const GpuAlarm&)> describe) {
  absl::StatusOr<std::unique_ptr<Arena>> arena = AllocatePinnedArena(context_, sizeof(GpuAlarm));
  if (!arena.ok()) return arena.status();
  const std::shared_ptr<Arena> owner = *std::move(arena);
  const std::shared_ptr<GpuAlarm> alarm(owner, new (owner->base()) GpuAlarm());
  std::lock_guard<std::mutex> lock(mutex_);
  alarms_.push_back({alarm, std::move(describe)});
  return alarm;
}

absl::Status CudaGpu::CheckAlarms() const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Alarm& known : alarms_) {
    const std::shared_ptr<GpuAlarm> alarm = known.alarm.lock();
    if (alarm != nullptr && alarm->raised != 0) return known.describe(*alarm);
  }
  return absl::OkStatus();
}

absl::Status CudaGpu::Launch(void* kernel, const GpuGrid& grid, const void* arguments, void* stream) {
  const auto* function = static_cast<const Function*>(kernel);
  void* parameters[] = {const_cast<void*>(arguments)};
  const cuda::Result result =
      context_.driver().LaunchKernel(function->handle, grid.blocks[0], grid.blocks[1], grid.blocks[2], grid.threads[0],
                                     grid.threads[1], grid.threads[2], grid.shared_bytes, stream, parameters, nullptr);
  if (result == cuda::kSuccess) return absl::OkStatus();
  return context_.Check(result, absl::StrCat("GPU kernel ", function->name, " in ", grid.ToString()));
}

absl::Status CudaGpu::Copy(void* to, const void* from, size_t bytes, void* stream) {
  if (bytes == 0) return absl::OkStatus();
  return context_.Check(context_.driver().MemcpyAsync(AddressOf(to), AddressOf(from), bytes, stream), "cuMemcpyAsync");
}

absl::Status CudaGpu::Fill(void* to, uint8_t value, size_t bytes, void* stream) {
  if (bytes == 0) return absl::OkStatus();
  return context_.Check(context_.driver().MemsetD8Async(AddressOf(to), value, bytes, stream), "cuMemsetD8Async");
}

absl::Status CudaGpu::Record(void* event, void* stream) {
  return context_.Check(context_.driver().EventRecord(event, stream), "cuEventRecord");
}

absl::Status CudaGpu::Wait(void* event, void* stream) {
  return context_.Check(context_.driver().StreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
}

absl::StatusOr<bool> CudaGpu::Reached(void* event) {
  if (absl::Status status = context_.Enter(); !status.ok()) return status;
  const cuda::Result result = context_.driver().EventQuery(event);
  if (result == cuda::kNotReady) return false;
  if (absl::Status status = context_.Check(result, "cuEventQuery"); !status.ok()) return status;
  return true;
}

}  // namespace weft::device
