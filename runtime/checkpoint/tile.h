// Where the elements of a tile lie in the whole tensor.
#ifndef WEFT_RUNTIME_CHECKPOINT_TILE_H_
#define WEFT_RUNTIME_CHECKPOINT_TILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/tensor_spec.h"

namespace weft::checkpoint {

// "[2,3]".
std::string ShapeText(const std::vector<int64_t>& shape);

// The product of the dims; -1 if one is negative or the product exceeds int64.
int64_t ElementsOf(const std::vector<int64_t>& shape);

// kInvalidArgument, beginning with `what`, unless spec is a tile inside a
// tensor that has as many elements as `shape`: [768,3,12,64] and [768,2304] are
// the same row-major bytes.
absl::Status CheckTile(const std::string& what, const TensorSpec& spec, const std::vector<int64_t>& shape);

// True if two tiles of one tensor share an element.
bool Intersect(const TensorSpec& a, const TensorSpec& b);

// Calls body(index, offset, count) -> absl::Status for every run of elements
// that is contiguous in the whole tensor and in the tile: `count` elements that
// begin at `index` in the tensor and at `offset` in the tile, ascending. Stops
// at the first error. The spec must have passed CheckTile.
template <typename Body>
absl::Status ForEachRun(const TensorSpec& spec, Body&& body) {
  const int64_t elements = spec.elements();
  if (elements == 0) return absl::OkStatus();
  // Trailing dims that the tile has whole, and one more, make a run.
  int64_t inner = spec.rank();
  int64_t count = 1, stride = 1;  // elements of a run, and of the tensor under dim `inner`
  while (inner > 0) {
    --inner;
    count *= spec.dims[inner];
    if (spec.dims[inner] != spec.global_dims[inner]) break;
    stride *= spec.global_dims[inner];
  }
  std::vector<int64_t> strides(spec.rank(), stride);
  for (int64_t d = inner - 1; d >= 0; --d) strides[d] = strides[d + 1] * spec.global_dims[d + 1];
  int64_t index = 0;
  for (int64_t d = 0; d <= inner && d < spec.rank(); ++d) index += spec.origin[d] * strides[d];
  std::vector<int64_t> at(inner, 0);
  for (int64_t offset = 0; offset < elements; offset += count) {
    if (absl::Status status = body(index, offset, count); !status.ok()) return status;
    for (int64_t d = inner - 1; d >= 0; --d) {
      index += strides[d];
      if (++at[d] < spec.dims[d]) break;
      index -= spec.dims[d] * strides[d];
      at[d] = 0;
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_TILE_H_
