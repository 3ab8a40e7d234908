#include "tests/emulation/cuda/memory.h"

#include <sys/mman.h>

#include <cstring>

namespace weft::cuda {
namespace {

constexpr size_t kPage = 4096;
constexpr int kGarbage = 0xcd;

void* At(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

EmulatedMemory::~EmulatedMemory() {
  for (const auto& [address, block] : blocks_) munmap(At(address), block.mapped);
}

uint64_t EmulatedMemory::Allocate(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes == 0 || static_cast<int64_t>(bytes) > capacity_ - allocated_) return 0;
  const size_t usable = (bytes + kPage - 1) / kPage * kPage;
  void* const memory = mmap(nullptr, usable + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  if (touchable_) {
    mprotect(memory, usable, PROT_READ | PROT_WRITE);
    std::memset(memory, kGarbage, usable);
    if (working_ == 0) mprotect(memory, usable, PROT_NONE);
  }
  const auto address = reinterpret_cast<uint64_t>(memory);
  blocks_[address] = {bytes, usable + kPage, false};
  allocated_ += static_cast<int64_t>(bytes);
  return address;
}

bool EmulatedMemory::Free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.freed) return false;
  Block& block = found->second;
  // The pages go back, the addresses stay taken.
  mmap(At(address), block.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  block.freed = true;
  allocated_ -= static_cast<int64_t>(block.bytes);
  return true;
}

bool EmulatedMemory::Holds(uint64_t address, size_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = blocks_.upper_bound(address);
  if (found == blocks_.begin()) return false;
  --found;
  return !found->second.freed && address + bytes <= found->first + found->second.bytes;
}

bool EmulatedMemory::IsDevice(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = blocks_.upper_bound(address);
  if (found == blocks_.begin()) return false;
  --found;
  return address < found->first + found->second.mapped;
}

int64_t EmulatedMemory::allocated() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return allocated_;
}

void EmulatedMemory::Protect(int protection) {
  if (!touchable_) return;
  for (const auto& [address, block] : blocks_) {
    if (!block.freed) mprotect(At(address), block.mapped - kPage, protection);
  }
}

void EmulatedMemory::Begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (working_++ == 0) Protect(PROT_READ | PROT_WRITE);
}

void EmulatedMemory::End() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (--working_ == 0) Protect(PROT_NONE);
}

}  // namespace weft::cuda
