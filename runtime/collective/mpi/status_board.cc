#include "runtime/collective/mpi/status_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <string>
#include <utility>

namespace weft::collective {
namespace {

constexpr size_t kBytes = StatusBoard::kWords * sizeof(std::atomic<int64_t>);

void* Map(int descriptor, int protection) {
  const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const mapped = mmap(nullptr, kBytes, protection, flags, descriptor, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

StatusBoard::StatusBoard() {
  descriptor_ = memfd_create("weft-board", MFD_CLOEXEC);
  if (descriptor_ >= 0 && ftruncate(descriptor_, kBytes) != 0) {
    close(descriptor_);
    descriptor_ = -1;
  }
  mapped_ = Map(descriptor_, PROT_READ | PROT_WRITE);
  if (mapped_ != nullptr) words_ = new (mapped_) std::atomic<int64_t>[kWords]();
}

StatusBoard::StatusBoard(int process, int descriptor) {
  if (descriptor < 0) return;
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  mapped_ = Map(file, PROT_READ);
  words_ = static_cast<std::atomic<int64_t>*>(mapped_);
  close(file);
}

StatusBoard::StatusBoard(StatusBoard&& other)
    : descriptor_(std::exchange(other.descriptor_, -1)),
      mapped_(std::exchange(other.mapped_, nullptr)),
      words_(std::exchange(other.words_, nullptr)) {}

StatusBoard::~StatusBoard() {
  if (mapped_ != nullptr) munmap(mapped_, kBytes);
  if (descriptor_ >= 0) close(descriptor_);
}

std::vector<int64_t> StatusBoard::Read() const {
  std::vector<int64_t> copy;
  for (int i = 0; words_ != nullptr && i < kWords; ++i) copy.push_back(words_[i].load(std::memory_order_relaxed));
  return copy;
}

}  // namespace weft::collective
