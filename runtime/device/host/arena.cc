#include "runtime/device/host/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace weft::device {
namespace {

// Bytes that processes can still take without swapping; -1 if not known.
int64_t AvailableBytes() {
  std::FILE* file = std::fopen("/proc/meminfo", "r");
  if (file == nullptr) return -1;
  int64_t kib = -1;
  char line[256];
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "MemAvailable: %" SCNd64 " kB", &kib) == 1) break;
  }
  std::fclose(file);
  return kib < 0 ? -1 : kib * 1024;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Arena>> HostArena::Create(int64_t bytes) {
  if (bytes < 0) return absl::InvalidArgumentError(absl::StrCat("arena: expected bytes of at least 0, got ", bytes));
  if (const int64_t available = AvailableBytes(); available >= 0 && bytes > available) {
    return absl::ResourceExhaustedError(
        absl::StrCat("host memory: expected at most the ", available, " bytes available, got ", bytes));
  }
  const int64_t mapped = std::max<int64_t>(bytes, 1);
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("host memory: ", bytes, " bytes: ", std::strerror(errno)));
  }
#ifdef MADV_HUGEPAGE
  (void)madvise(base, mapped, MADV_HUGEPAGE);  // fewer page faults; a wish, not a need
#endif
  // Touches every page, so that what the plan counts is what the process has.
  constexpr int64_t kPage = 4096;
  for (int64_t i = 0; i < mapped; i += kPage) static_cast<volatile char*>(base)[i] = 0;
  return std::unique_ptr<Arena>(new HostArena(static_cast<char*>(base), bytes, mapped));
}

HostArena::~HostArena() { munmap(base_, mapped_); }

}  // namespace weft::device
