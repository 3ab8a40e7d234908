// What the kernels of constants know when they are created, on all devices.
#ifndef WEFT_OPS_CONSTANT_KNOWN_H_
#define WEFT_OPS_CONSTANT_KNOWN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::constant {

// fill: the bytes of one element, in the lowest ones of a word.
absl::StatusOr<uint64_t> FilledElement(const KernelSpec& spec);

// iota: along one dim the elements of the tile are begin, begin + 1, ...; a number is `inner` neighbours.
struct Iota {
  int64_t extent, inner, begin;
};
absl::StatusOr<Iota> PlanIota(const KernelSpec& spec);

// constant: the bytes of the tile. Attribute `values`, of the whole tensor: integers, or where its type is
// floating point the bits of doubles.
absl::StatusOr<std::vector<uint8_t>> TileOf(const KernelSpec& spec);

}  // namespace weft::constant

#endif  // WEFT_OPS_CONSTANT_KNOWN_H_
