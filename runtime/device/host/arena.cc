#include "runtime/device/host/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/device/host/available.h"

namespace weft::device {
namespace {

constexpr int64_t kPage = 4096;
// Touched between two looks at the promises.
constexpr int64_t kChunk = int64_t{16} << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<Arena>> HostArena::Create(int64_t bytes, Promises& promises) {
  if (bytes < 0) return absl::InvalidArgumentError(absl::StrCat("arena: expected bytes of at least 0, got ", bytes));
  if (absl::Status status = promises.Make(bytes, &AvailableBytes); !status.ok()) return status;
  const int64_t mapped = std::max<int64_t>(bytes, 1);
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    const int error = errno;
    promises.Settle(bytes);
    return absl::ResourceExhaustedError(absl::StrCat("host memory: ", bytes, " bytes: ", std::strerror(error)));
  }
#ifdef MADV_HUGEPAGE
  (void)madvise(base, mapped, MADV_HUGEPAGE);  // fewer page faults; a wish, not a need
#endif
  // Touches every page, so that what the plan counts is what the process has.
  for (int64_t begin = 0; begin < mapped; begin += kChunk) {
    const int64_t end = std::min(mapped, begin + kChunk);
    for (int64_t i = begin; i < end; i += kPage) static_cast<volatile char*>(base)[i] = 0;
    promises.Settle(std::min(bytes, end) - std::min(bytes, begin));
  }
  return std::unique_ptr<Arena>(new HostArena(static_cast<char*>(base), bytes, mapped));
}

HostArena::~HostArena() { munmap(base_, mapped_); }

}  // namespace weft::device
