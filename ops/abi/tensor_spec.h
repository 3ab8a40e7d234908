// What a kernel knows of one operand before it runs: the local tile and where
// it lies in the global tensor.
#ifndef WEFT_OPS_ABI_TENSOR_SPEC_H_
#define WEFT_OPS_ABI_TENSOR_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ops/abi/dtype.h"

namespace weft {

// A dense row-major tile `dims` of a global tensor `global_dims`, whose element
// (0, ..., 0) is the global element `origin`. All three have the same length;
// an unsplit tensor has dims == global_dims and a zero origin. Where dimensions were made larger than those of the
// tensor (the compiler's phase `pad`), `padded_dims` is what was cut into tiles: a tile may reach beyond the tensor.
struct TensorSpec {
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  std::vector<int64_t> global_dims;
  std::vector<int64_t> origin;
  std::vector<int64_t> padded_dims = {};  // empty: global_dims

  // A whole (unsplit) tensor.
  static TensorSpec Whole(DType dtype, std::vector<int64_t> dims) {
    return {dtype, dims, dims, std::vector<int64_t>(dims.size(), 0)};
  }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }
  size_t bytes() const { return static_cast<size_t>(elements()) * SizeOf(dtype); }
  bool whole() const { return dims == global_dims; }
  // The dims of what of the tile is in the tensor: with 0 in it, nothing is.
  std::vector<int64_t> InsideDims() const;
  bool reaches_beyond() const { return InsideDims() != dims; }
  // "f32[4,8] of [16,8] at (4,0)"; without the second half when whole.
  std::string ToString() const;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_TENSOR_SPEC_H_
