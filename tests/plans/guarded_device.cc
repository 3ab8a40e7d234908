#include "tests/plans/guarded_device.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "runtime/device/host/device.h"

namespace weft::plan {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kLine = 64;

int64_t RoundUp(int64_t bytes, int64_t to) { return (bytes + to - 1) / to * to; }

// Pages with a forbidden one before and behind them.
class GuardedArena : public device::Arena {
 public:
  static absl::StatusOr<std::unique_ptr<device::Arena>> Create(int64_t bytes) {
    const int64_t inner = RoundUp(bytes, kPage), mapped = inner + 2 * kPage;
    void* pages = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return absl::ResourceExhaustedError("guarded arena: no address space");
    char* first = static_cast<char*>(pages) + kPage;
    if (inner > 0 && mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) {
      munmap(pages, mapped);
      return absl::ResourceExhaustedError("guarded arena: no memory");
    }
    std::memset(first, GuardedDevice::kGarbage, inner);
    return std::make_unique<GuardedArena>(static_cast<char*>(pages), mapped, first + inner - RoundUp(bytes, kLine),
                                          bytes);
  }
  GuardedArena(char* pages, int64_t mapped, char* base, int64_t bytes)
      : pages_(pages), mapped_(mapped), base_(base), bytes_(bytes) {}
  ~GuardedArena() override { munmap(pages_, mapped_); }
  char* base() const override { return base_; }
  int64_t bytes() const override { return bytes_; }

 private:
  char* const pages_;
  const int64_t mapped_;
  char* const base_;
  const int64_t bytes_;
};

}  // namespace

GuardedDevice::GuardedDevice() : host_(device::CreateHostDevice()) {}

absl::StatusOr<std::unique_ptr<device::Arena>> GuardedDevice::AllocateArena(int64_t bytes) {
  absl::StatusOr<std::unique_ptr<device::Arena>> arena = GuardedArena::Create(bytes);
  if (!arena.ok()) return arena;
  std::lock_guard<std::mutex> lock(mutex_);
  made_[std::this_thread::get_id()] = arena->get();
  return arena;
}

absl::StatusOr<std::unique_ptr<device::Arena>> GuardedDevice::AllocateHostMemory(int64_t bytes) {
  return GuardedArena::Create(bytes);
}

absl::StatusOr<std::unique_ptr<device::Stream>> GuardedDevice::CreateStream(const std::string& name) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    arenas_[std::atoi(name.c_str() + 1)] = made_[std::this_thread::get_id()];  // "r3 compute"
  }
  return host_->CreateStream(name);
}

device::Arena* GuardedDevice::ArenaOf(int rank) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = arenas_.find(rank);
  return found == arenas_.end() ? nullptr : found->second;
}

}  // namespace weft::plan
