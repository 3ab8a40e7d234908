// Copies of matrices to and from float32, as microkernels want them.
#ifndef WEFT_OPS_EINSUM_CPU_PACK_H_
#define WEFT_OPS_EINSUM_CPU_PACK_H_

#include <cstdint>

#include "ops/abi/dtype.h"

namespace weft::einsum {

// `rows` x `columns` elements of f32, bf16 or f16 at `data`; one of the strides, in elements, is 1.
struct PackedFrom {
  const void* data;
  DType type;
  int64_t row_stride, column_stride;
};

// The part that begins at a row and a column.
PackedFrom At(const PackedFrom& from, int64_t row, int64_t column);
// to[row * stride + column] = from[row, column].
void Pack(const PackedFrom& from, int64_t rows, int64_t columns, float* to, int64_t stride);
// The other way: `to` has `type` and rows of `to_stride` elements, columns next to each other.
void Unpack(const float* from, int64_t from_stride, int64_t rows, int64_t columns, DType type, void* to,
            int64_t to_stride);
// to[row * to_stride + column] += from[row * from_stride + column].
void Add(const float* from, int64_t from_stride, int64_t rows, int64_t columns, float* to, int64_t to_stride);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_PACK_H_
