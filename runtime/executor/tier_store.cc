#include "runtime/executor/tier_store.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/file.h"
#include "runtime/executor/disk.h"

namespace weft::executor {
namespace {

absl::Status Under(const Tier& tier, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("tier `", tier.name(), "`: ", status.message()));
}

// A file, whose bytes go through memory of the host on their way to and from a GPU: two parts of it in turn, so that
// one is read or written while the other is copied.
class FileStore : public TierStore {
 public:
  struct Part {
    std::unique_ptr<device::Arena> memory;
    std::unique_ptr<device::Event> copied;
  };
  static constexpr int64_t kPartBytes = int64_t{4} << 20;

  // `parts`: none where the host addresses the device's memory.
  FileStore(checkpoint::File file, std::vector<Part> parts)
      : file_(std::move(file)), disk_(file_), parts_(std::move(parts)) {}

  absl::Status Read(int64_t offset, void* to, int64_t bytes) override { return file_.ReadAt(offset, to, bytes); }
  // Not written to the disk before the kernel wants to, as nobody reads it after the process.
  absl::Status Write(int64_t offset, const void* from, int64_t bytes) override {
    return file_.WriteAt(offset, from, bytes);
  }

  absl::Status Fetch(int64_t offset, void* to, int64_t bytes, device::Stream& stream) override {
    if (parts_.empty()) return disk_.Read(offset, to, bytes);
    for (int64_t at = 0; at < bytes; at += kPartBytes) {
      const Part& part = PartAt(at);
      const int64_t size = std::min(kPartBytes, bytes - at);
      absl::Status status = part.copied->Synchronize();
      if (status.ok()) status = disk_.Read(offset + at, part.memory->base(), size);
      if (status.ok()) status = stream.Copy(static_cast<char*>(to) + at, part.memory->base(), size);
      if (status.ok()) status = stream.Record(*part.copied);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Store(int64_t offset, const void* from, int64_t bytes, device::Stream& stream) override {
    if (parts_.empty()) return disk_.Write(offset, from, bytes);
    const auto copy = [&](int64_t at) {
      const Part& part = PartAt(at);
      const absl::Status status =
          stream.Copy(part.memory->base(), static_cast<const char*>(from) + at, std::min(kPartBytes, bytes - at));
      return status.ok() ? stream.Record(*part.copied) : status;
    };
    absl::Status status = copy(0);
    for (int64_t at = 0; at < bytes && status.ok(); at += kPartBytes) {
      if (at + kPartBytes < bytes) status = copy(at + kPartBytes);
      if (status.ok()) status = PartAt(at).copied->Synchronize();
      if (status.ok()) {
        status = disk_.Write(offset + at, PartAt(at).memory->base(), std::min(kPartBytes, bytes - at));
      }
    }
    return status;
  }

  bool only_enqueues() const override { return false; }
  absl::StatusOr<int64_t> TakenBytes() const override { return file_.TakenBytes(); }
  std::string refusal() const override { return disk_.refusal(); }

 private:
  const Part& PartAt(int64_t at) const { return parts_[at / kPartBytes % static_cast<int64_t>(parts_.size())]; }

  checkpoint::File file_;
  Disk disk_;  // of Fetch() and Store()
  std::vector<Part> parts_;
};

class MemoryStore : public TierStore {
 public:
  explicit MemoryStore(std::unique_ptr<device::Arena> memory) : memory_(std::move(memory)) {}
  absl::Status Read(int64_t offset, void* to, int64_t bytes) override {
    std::memcpy(to, memory_->base() + offset, bytes);
    return absl::OkStatus();
  }
  absl::Status Write(int64_t offset, const void* from, int64_t bytes) override {
    std::memcpy(memory_->base() + offset, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Fetch(int64_t offset, void* to, int64_t bytes, device::Stream& stream) override {
    return stream.Copy(to, memory_->base() + offset, bytes);
  }
  absl::Status Store(int64_t offset, const void* from, int64_t bytes, device::Stream& stream) override {
    return stream.Copy(memory_->base() + offset, from, bytes);
  }
  char* memory() const override { return memory_->base(); }
  bool only_enqueues() const override { return true; }
  absl::StatusOr<int64_t> TakenBytes() const override { return memory_->bytes(); }

 private:
  const std::unique_ptr<device::Arena> memory_;
};

absl::StatusOr<std::unique_ptr<TierStore>> CreateMemory(int64_t bytes, device::Device& device) {
  absl::StatusOr<std::unique_ptr<device::Arena>> memory = device.AllocateHostMemory(bytes);
  if (!memory.ok()) return memory.status();
  return std::make_unique<MemoryStore>(*std::move(memory));
}

absl::StatusOr<std::vector<FileStore::Part>> PartsFor(device::Device& device) {
  std::vector<FileStore::Part> parts(device.host_addressable() ? 0 : 2);
  for (FileStore::Part& part : parts) {
    absl::StatusOr<std::unique_ptr<device::Arena>> memory = device.AllocateHostMemory(FileStore::kPartBytes);
    if (!memory.ok()) return memory.status();
    absl::StatusOr<std::unique_ptr<device::Event>> copied = device.CreateEvent();
    if (!copied.ok()) return copied.status();
    part = {*std::move(memory), *std::move(copied)};
  }
  return parts;
}

absl::StatusOr<std::unique_ptr<TierStore>> CreateFile(const std::string& folder, int rank, int64_t bytes,
                                                      device::Device& device) {
  if (folder.empty()) return absl::InvalidArgumentError("expected a folder for its files, got none");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return checkpoint::SystemError(folder, "create", error.value());
  absl::StatusOr<checkpoint::File> file =
      checkpoint::File::Create(absl::StrCat(folder, "/.weft-tier.", getpid(), ".rank-", rank));
  if (!file.ok()) return file.status();
  unlink(file->path().c_str());
  if (absl::Status status = file->Allocate(bytes); !status.ok()) return status;
  absl::StatusOr<std::vector<FileStore::Part>> parts = PartsFor(device);
  if (!parts.ok()) return parts.status();
  return std::make_unique<FileStore>(*std::move(file), *std::move(parts));
}

class FetchKernel : public Kernel {
 public:
  FetchKernel(TierStore& store, const PlaceInStore& place, device::Stream& stream)
      : store_(store), place_(place), stream_(stream) {}
  absl::Status Run(const RunContext& context, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    return store_.Fetch(place_.OffsetOf(context.micro_batch), outputs[0], place_.bytes, stream_);
  }

 private:
  TierStore& store_;
  const PlaceInStore place_;
  device::Stream& stream_;
};

class StoreKernel : public Kernel {
 public:
  StoreKernel(TierStore& store, const PlaceInStore& place, device::Stream& stream)
      : store_(store), place_(place), stream_(stream) {}
  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs, absl::Span<void* const>) override {
    return store_.Store(place_.OffsetOf(context.micro_batch), inputs[0], place_.bytes, stream_);
  }

 private:
  TierStore& store_;
  const PlaceInStore place_;
  device::Stream& stream_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TierStore>> TierStore::Create(const Tier& tier, int rank, int64_t bytes,
                                                             const std::string& folder, device::Device& device) {
  absl::StatusOr<std::unique_ptr<TierStore>> store =
      tier.kind() == Tier::HOST ? CreateMemory(bytes, device) : CreateFile(folder, rank, bytes, device);
  return store.ok() ? std::move(store) : Under(tier, store.status());
}

std::string DiskOf(const plan::Plan& plan) {
  for (const plan::Stage& stage : plan.stages()) {
    for (int t = 0; t < stage.tier_bytes_size(); ++t) {
      const Tier& tier = plan.header().cluster().tier(t);
      if (stage.tier_bytes(t) > 0 && tier.kind() == Tier::DISK) return tier.name();
    }
  }
  return "";
}

std::unique_ptr<Kernel> CreateFetchKernel(TierStore& store, const PlaceInStore& place, device::Stream& stream) {
  return std::make_unique<FetchKernel>(store, place, stream);
}

std::unique_ptr<Kernel> CreateStoreKernel(TierStore& store, const PlaceInStore& place, device::Stream& stream) {
  return std::make_unique<StoreKernel>(store, place, stream);
}

}  // namespace weft::executor
