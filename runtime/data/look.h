// A look at much data in little time.
#ifndef WEFT_RUNTIME_DATA_LOOK_H_
#define WEFT_RUNTIME_DATA_LOOK_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::data {

// Bytes that a look takes at most, about: a fraction of a second from memory.
inline constexpr int64_t kLookBytes = int64_t{256} << 20;

// The parts [begin, end) that a look takes of `bytes` bytes, ascending: all, or of over `limit` bytes the same places
// of everything of that size. Each begins at a whole multiple of 8.
std::vector<std::pair<int64_t, int64_t>> PartsOf(int64_t bytes, int64_t limit = kLookBytes);

// A hash of these parts of `data`, and of how many bytes there are.
uint64_t HashOf(const uint8_t* data, int64_t bytes, const std::vector<std::pair<int64_t, int64_t>>& parts);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_LOOK_H_
