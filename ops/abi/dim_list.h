// A walk over dims as GPU kernels get it: plain numbers, of fixed size. See Walk of ops/abi/reduction.h.
#ifndef WEFT_OPS_ABI_DIM_LIST_H_
#define WEFT_OPS_ABI_DIM_LIST_H_

#include <cstdint>

namespace weft::reduce {

inline constexpr int kMaxDims = 8;

// Dims walked in row-major order, innermost first. Strides are in elements.
struct DimList {
  int32_t dims;
  int64_t count;  // the product of the extents
  int64_t extent[kMaxDims];
  int64_t stride[kMaxDims];
};

}  // namespace weft::reduce

#endif  // WEFT_OPS_ABI_DIM_LIST_H_
