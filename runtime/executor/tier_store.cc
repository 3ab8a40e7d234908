#include "runtime/executor/tier_store.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/file.h"

namespace weft::executor {
namespace {

absl::Status Under(const Tier& tier, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("tier `", tier.name(), "`: ", status.message()));
}

// Not written to the disk before the kernel wants to, as nobody reads it after the process.
class FileStore : public TierStore {
 public:
  explicit FileStore(checkpoint::File file) : file_(std::move(file)) {}
  absl::Status Read(int64_t offset, void* to, int64_t bytes) override { return file_.ReadAt(offset, to, bytes); }
  absl::Status Write(int64_t offset, const void* from, int64_t bytes) override {
    return file_.WriteAt(offset, from, bytes);
  }
  absl::StatusOr<int64_t> TakenBytes() const override { return file_.TakenBytes(); }

 private:
  checkpoint::File file_;
};

class MemoryStore : public TierStore {
 public:
  explicit MemoryStore(int64_t bytes) : memory_(bytes) {}
  absl::Status Read(int64_t offset, void* to, int64_t bytes) override {
    std::memcpy(to, memory_.data() + offset, bytes);
    return absl::OkStatus();
  }
  absl::Status Write(int64_t offset, const void* from, int64_t bytes) override {
    std::memcpy(memory_.data() + offset, from, bytes);
    return absl::OkStatus();
  }
  absl::StatusOr<int64_t> TakenBytes() const override { return static_cast<int64_t>(memory_.size()); }

 private:
  std::vector<char> memory_;
};

absl::StatusOr<std::unique_ptr<TierStore>> CreateFile(const std::string& folder, int rank, int64_t bytes) {
  if (folder.empty()) return absl::InvalidArgumentError("expected a folder for its files, got none");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return checkpoint::SystemError(folder, "create", error.value());
  absl::StatusOr<checkpoint::File> file =
      checkpoint::File::Create(absl::StrCat(folder, "/.weft-tier.", getpid(), ".rank-", rank));
  if (!file.ok()) return file.status();
  unlink(file->path().c_str());
  if (absl::Status status = file->Allocate(bytes); !status.ok()) return status;
  return std::make_unique<FileStore>(*std::move(file));
}

class FetchKernel : public Kernel {
 public:
  FetchKernel(TierStore& store, const PlaceInStore& place) : store_(store), place_(place) {}
  absl::Status Run(const RunContext& context, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    return store_.Read(place_.OffsetOf(context.micro_batch), outputs[0], place_.bytes);
  }

 private:
  TierStore& store_;
  const PlaceInStore place_;
};

class StoreKernel : public Kernel {
 public:
  StoreKernel(TierStore& store, const PlaceInStore& place) : store_(store), place_(place) {}
  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs, absl::Span<void* const>) override {
    return store_.Write(place_.OffsetOf(context.micro_batch), inputs[0], place_.bytes);
  }

 private:
  TierStore& store_;
  const PlaceInStore place_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TierStore>> TierStore::Create(const Tier& tier, int rank, int64_t bytes,
                                                             const std::string& folder) {
  if (tier.kind() == Tier::HOST) return std::make_unique<MemoryStore>(bytes);
  absl::StatusOr<std::unique_ptr<TierStore>> store = CreateFile(folder, rank, bytes);
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

std::unique_ptr<Kernel> CreateFetchKernel(TierStore& store, const PlaceInStore& place) {
  return std::make_unique<FetchKernel>(store, place);
}

std::unique_ptr<Kernel> CreateStoreKernel(TierStore& store, const PlaceInStore& place) {
  return std::make_unique<StoreKernel>(store, place);
}

}  // namespace weft::executor
