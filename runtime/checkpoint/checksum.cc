#include "runtime/checkpoint/checksum.h"

#include <cstring>

#include "absl/strings/str_format.h"
#include "ops/abi/cpu_level.h"
#include "ops/abi/philox.h"

namespace weft::checkpoint {
namespace {

template <typename Bits>
[[gnu::always_inline]] inline uint64_t Sum(int64_t first, const char* data, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * sizeof(Bits), sizeof(Bits));
    // bits + (index + 1) * odd constant, through splitmix64's finaliser: every
    // step can be undone.
    sum += MixSeed(bits, static_cast<uint64_t>(first + i));
  }
  return sum;
}

[[gnu::always_inline]] inline uint64_t SumOf(size_t element_bytes, int64_t first, const char* bytes, int64_t count) {
  switch (element_bytes) {
    case 1:
      return Sum<uint8_t>(first, bytes, count);
    case 2:
      return Sum<uint16_t>(first, bytes, count);
    case 4:
      return Sum<uint32_t>(first, bytes, count);
    default:
      return Sum<uint64_t>(first, bytes, count);
  }
}

// AVX-512 multiplies eight of 64 bits at once: a checkpoint that is written aside takes a core from the steps.
[[gnu::target("arch=x86-64-v4")]] uint64_t SumOfV4(size_t element_bytes, int64_t first, const char* bytes,
                                                   int64_t count) {
  return SumOf(element_bytes, first, bytes, count);
}

}  // namespace

uint64_t Checksum(size_t element_bytes, int64_t first, const void* data, int64_t count) {
  static const bool is_v4 = CpuHasLevel4();
  const char* bytes = static_cast<const char*>(data);
  return is_v4 ? SumOfV4(element_bytes, first, bytes, count) : SumOf(element_bytes, first, bytes, count);
}

std::string ToHex(uint64_t checksum) { return absl::StrFormat("%016x", checksum); }

}  // namespace weft::checkpoint
