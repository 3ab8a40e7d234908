// Where the elements of a tile lie in the whole tensor.
#ifndef WEFT_RUNTIME_CHECKPOINT_TILE_H_
#define WEFT_RUNTIME_CHECKPOINT_TILE_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/collective/tile_copy.h"

namespace weft::checkpoint {

// "[2,3]".
std::string ShapeText(const std::vector<int64_t>& shape);

// The product of the dims; -1 if one is negative or the product exceeds int64.
int64_t ElementsOf(const std::vector<int64_t>& shape);

// kInvalidArgument, beginning with `what`, unless spec is a tile inside a
// tensor, or what it was padded to, that has as many elements as `shape`: [768,3,12,64]
// and [768,2304] are the same row-major bytes.
absl::Status CheckTile(const std::string& what, const TensorSpec& spec, const std::vector<int64_t>& shape);

// True if two tiles of one tensor share an element.
bool Intersect(const TensorSpec& a, const TensorSpec& b);

// Calls body(index, offset, count) -> absl::Status for every run of elements
// that is contiguous in the whole tensor and in the tile: `count` elements that
// begin at `index` in the tensor and at `offset` in the tile, ascending, until
// one fails. Padding is in no run. The spec must have passed CheckTile.
template <typename Body>
absl::Status ForEachRun(const TensorSpec& spec, Body&& body) {
  const std::vector<int64_t> start(spec.rank(), 0), inside = spec.InsideDims();
  absl::Status status;
  if (std::find(inside.begin(), inside.end(), 0) != inside.end()) return status;
  const collective::TileCopy runs(inside, spec.global_dims, spec.origin, spec.dims, start, /*element_bytes=*/1);
  runs.ForEachRun([&](int64_t index, int64_t offset, int64_t count) {
    if (status.ok()) status = body(index, offset, count);
  });
  return status;
}

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_TILE_H_
