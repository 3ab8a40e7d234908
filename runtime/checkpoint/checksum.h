// A checksum of a tensor that can be made tile by tile.
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKSUM_H_
#define WEFT_RUNTIME_CHECKPOINT_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::checkpoint {

// The sum, modulo 2^64, over `count` elements of a mix of the element's index
// and its bits; element 0 of `data` has index `first` in the whole tensor. The
// checksums of disjoint parts add up to that of the whole, whatever the parts.
//
// For one index the mix is a bijection of the bits, so a change within one
// element is always seen; any other change (elements swapped, moved or lost)
// escapes with a chance of about 2^-64. It guards against accidents, not
// against an adversary. `element_bytes` is 1, 2, 4 or 8; `data` needs no
// alignment. Pure: any thread may call.
uint64_t Checksum(size_t element_bytes, int64_t first, const void* data, int64_t count);

// Sixteen hexadecimal digits.
std::string ToHex(uint64_t checksum);

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_CHECKSUM_H_
