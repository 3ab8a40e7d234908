#include "runtime/device/cuda/context.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace weft::device {
namespace {

constexpr int64_t kAlignment = 4096;  // what Arena promises; the driver's own is less

// Memory and what it came from; freed with the context entered.
class CudaArena : public Arena {
 public:
  CudaArena(const CudaContext& context, char* memory, int64_t bytes, bool on_host)
      : context_(context), memory_(memory), bytes_(bytes), on_host_(on_host) {}
  ~CudaArena() override {
    context_.Enter().IgnoreError();
    if (on_host_) {
      context_.driver().MemFreeHost(memory_);
    } else {
      context_.driver().MemFree(reinterpret_cast<cuda::Address>(memory_));
    }
  }
  char* base() const override {
    const auto at = reinterpret_cast<uintptr_t>(memory_);
    return reinterpret_cast<char*>((at + kAlignment - 1) / kAlignment * kAlignment);
  }
  int64_t bytes() const override { return bytes_; }

 private:
  const CudaContext& context_;
  char* const memory_;
  const int64_t bytes_;
  const bool on_host_;
};

// Zeroes the memory and waits for it.
absl::Status Clear(const CudaContext& context, cuda::Address address, size_t bytes) {
  const cuda::Driver& driver = context.driver();
  cuda::Handle stream = nullptr;
  absl::Status status = context.Check(driver.StreamCreate(&stream, cuda::kStreamNonBlocking), "cuStreamCreate");
  if (!status.ok()) return status;
  status = context.Check(driver.MemsetD8Async(address, 0, bytes, stream), "cuMemsetD8Async");
  if (status.ok()) status = context.Check(driver.StreamSynchronize(stream), "cuStreamSynchronize");
  driver.StreamDestroy(stream);
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaContext>> CudaContext::Create(const cuda::Driver& driver, int ordinal) {
  int count = 0;
  if (absl::Status status = driver.Check(driver.DeviceGetCount(&count), "cuDeviceGetCount"); !status.ok()) {
    return status;
  }
  if (ordinal < 0 || ordinal >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("GPU ", ordinal, ": expected one of the ", count, " of this machine"));
  }
  cuda::Ordinal device = 0;
  cuda::Handle handle = nullptr;
  char name[256] = {};
  absl::Status status = driver.Check(driver.DeviceGet(&device, ordinal), "cuDeviceGet");
  if (status.ok()) status = driver.Check(driver.DeviceGetName(name, sizeof(name), device), "cuDeviceGetName");
  const std::string title = absl::StrCat("GPU ", ordinal, " (", name, ")");
  if (status.ok()) {
    status = driver.Check(driver.DevicePrimaryCtxRetain(&handle, device), title + ": cuDevicePrimaryCtxRetain");
  }
  if (!status.ok()) return status;
  return std::unique_ptr<CudaContext>(new CudaContext(driver, device, handle, title));
}

CudaContext::~CudaContext() { driver_.DevicePrimaryCtxRelease(ordinal_); }

absl::StatusOr<int> CudaContext::Attribute(int attribute) const {
  int value = 0;
  const absl::Status status =
      Check(driver_.DeviceGetAttribute(&value, attribute, ordinal_), absl::StrCat("cuDeviceGetAttribute ", attribute));
  if (!status.ok()) return status;
  return value;
}

absl::StatusOr<std::shared_ptr<void>> CreateCudaEvent(const CudaContext& context) {
  if (absl::Status status = context.Enter(); !status.ok()) return status;
  cuda::Handle handle = nullptr;
  const absl::Status status =
      context.Check(context.driver().EventCreate(&handle, cuda::kEventDisableTiming), "cuEventCreate");
  if (!status.ok()) return status;
  return std::shared_ptr<void>(handle, [&context](void* event) {
    context.Enter().IgnoreError();
    context.driver().EventDestroy(event);
  });
}

absl::StatusOr<std::unique_ptr<Arena>> AllocateCudaArena(const CudaContext& context, int64_t bytes) {
  if (bytes < 0) return absl::InvalidArgumentError(absl::StrCat("arena: expected bytes of at least 0, got ", bytes));
  if (absl::Status status = context.Enter(); !status.ok()) return status;
  const cuda::Driver& driver = context.driver();
  size_t free = 0, total = 0;
  absl::Status status = context.Check(driver.MemGetInfo(&free, &total), "cuMemGetInfo");
  if (!status.ok()) return status;
  const size_t wanted = static_cast<size_t>(bytes) + kAlignment;
  if (wanted > free) {
    return absl::ResourceExhaustedError(
        absl::StrCat(context.name(), ": expected at most the ", free, " bytes free of ", total, ", got ", bytes));
  }
  cuda::Address address = 0;
  status = context.Check(driver.MemAlloc(&address, wanted),
                         absl::StrCat(context.name(), ": cuMemAlloc of ", wanted, " bytes, ", free, " free"));
  if (!status.ok()) return status;
  auto arena = std::make_unique<CudaArena>(context, reinterpret_cast<char*>(address), bytes, /*on_host=*/false);
  if (status = Clear(context, address, wanted); !status.ok()) return status;
  return arena;
}

absl::StatusOr<std::unique_ptr<Arena>> AllocatePinnedArena(const CudaContext& context, int64_t bytes) {
  if (bytes < 0) return absl::InvalidArgumentError(absl::StrCat("arena: expected bytes of at least 0, got ", bytes));
  if (absl::Status status = context.Enter(); !status.ok()) return status;
  const size_t wanted = static_cast<size_t>(bytes) + kAlignment;
  void* memory = nullptr;
  const absl::Status status = context.Check(context.driver().MemHostAlloc(&memory, wanted, cuda::kHostAllocPortable),
                                            absl::StrCat("pinned host memory: cuMemHostAlloc of ", wanted, " bytes"));
  if (!status.ok()) return status;
  std::memset(memory, 0, wanted);
  return std::make_unique<CudaArena>(context, static_cast<char*>(memory), bytes, /*on_host=*/true);
}

}  // namespace weft::device
