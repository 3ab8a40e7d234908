// A tiled matrix product for any strides: the fallback that is always there.
// A block makes a tile of one matrix of the batch (cuda_code_tile.h).
//
// What an epilogue does is done before a sum is written, or by finish_* to what
// another product has written; sums over rows are a launch of their own.
#include "ops/cuda/gelu.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/einsum/cuda_arguments.h"
#include "ops/einsum/cuda_code_grouped.h"
#include "ops/einsum/cuda_code_tile.h"

namespace {

using namespace weft::gpu;
using namespace weft::einsum;

// Of element `index` of the axes, in operand `o`.
WEFT_DEVICE int64_t OffsetOf(const AxisList& axes, int64_t index, int o) {
  int64_t offset = 0;
  for (int a = 0; a < axes.count; ++a) {
    offset += index % axes.extent[a] * axes.stride[a][o];
    index /= axes.extent[a];
  }
  return offset;
}

// The elements of an operand, whose outer axes are rows or columns, in the tile that begins at `first`.
template <typename T>
struct Matrix {
  const T* elements;
  const AxisList& outer;
  const AxisList& inner;
  int64_t first;
  int operand;
  bool along_inner;  // whether neighbours lie along what is summed over

  WEFT_DEVICE float operator()(int t, int64_t d) const {
    return first + t < outer.size ? Widen(elements[OffsetOf(outer, first + t, operand) + OffsetOf(inner, d, operand)])
                                  : 0.0f;
  }
};

WEFT_DEVICE bool IsAlongInner(const AxisList& inner, int operand) {
  return inner.count > 0 && inner.stride[0][operand] == 1;
}

template <typename R>
WEFT_DEVICE R Finished(const EpilogueArguments& args, int64_t at, float value) {
  if (args.added != nullptr) value += Widen(static_cast<const R*>(args.added)[at]);
  if (args.bias != nullptr) value += Widen(static_cast<const R*>(args.bias)[at % args.bias_size]);
  if (args.kept != nullptr) static_cast<R*>(args.kept)[at] = Narrow<R>(value);
  if (args.gelu != 0) value = GeluTanh::Value(value);
  return Narrow<R>(value);
}

template <typename T, typename R>
WEFT_DEVICE void Product(const ProductArguments& args) {
  const int64_t first_row = int64_t{blockIdx.x} * kTile, first_column = int64_t{blockIdx.y} * kTile;
  for (int64_t batch = blockIdx.z; batch < args.batch.size; batch += gridDim.z) {
    const Matrix<T> left = {static_cast<const T*>(args.left) + OffsetOf(args.batch, batch, 0),
                            args.rows,
                            args.inner,
                            first_row,
                            0,
                            IsAlongInner(args.inner, 0)};
    const Matrix<T> right = {static_cast<const T*>(args.right) + OffsetOf(args.batch, batch, 1),
                             args.columns,
                             args.inner,
                             first_column,
                             1,
                             IsAlongInner(args.inner, 1)};
    const int64_t matrix = OffsetOf(args.batch, batch, 2);
    FloatTile tile;
    tile.Add(args.inner.size, left, right);
    tile.Each([&](int t, int u, float sum) {
      const int64_t row = first_row + t, column = first_column + u;
      if (row >= args.rows.size || column >= args.columns.size) return;
      const int64_t at = matrix + OffsetOf(args.rows, row, 2) + OffsetOf(args.columns, column, 2);
      R* const result = static_cast<R*>(args.result) + at;
      *result = args.adds ? Narrow<R>(Widen(*result) + sum) : Finished<R>(args.epilogue, at, sum);
    });
  }
}

template <typename R>
WEFT_DEVICE void Finish(const FinishArguments& args) {
  R* result = static_cast<R*>(args.result);
  for (int64_t at : EachOf(args.n)) result[at] = Finished<R>(args.epilogue, at, Widen(result[at]));
}

template <typename T, typename R>
WEFT_DEVICE void ColumnSums(const ColumnSumArguments& args) {
  __shared__ float parts[kSumRows][32];
  for (int64_t first = int64_t{blockIdx.x} * 32; first < args.columns; first += int64_t{gridDim.x} * 32) {
    const int64_t column = first + threadIdx.x;
    float sum = 0;
    if (column < args.columns) {
      for (int64_t r = threadIdx.y; r < args.rows; r += kSumRows) {
        sum += Widen(static_cast<const T*>(args.matrix)[r * args.columns + column]);
      }
    }
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < args.columns) {
      for (int p = 1; p < kSumRows; ++p) sum += parts[p][threadIdx.x];
      static_cast<R*>(args.sums)[column] = Narrow<R>(sum);
    }
    __syncthreads();
  }
}

}  // namespace

#define WEFT_PRODUCT(T, t, R, r)                                                                       \
  WEFT_KERNEL(product_##t##_##r, ProductArguments, kSide* kSide) { Product<T, R>(args); }              \
  WEFT_KERNEL(column_sums_##t##_##r, ColumnSumArguments, 32 * kSumRows) { ColumnSums<T, R>(args); }    \
  WEFT_KERNEL(grouped_matmul_##t##_##r, GroupedArguments, kSide* kSide) { GroupedMatmul<T, R>(args); } \
  WEFT_KERNEL(grouped_outer_##t##_##r, GroupedArguments, kSide* kSide) { GroupedOuter<T, R>(args); }

WEFT_PRODUCT(float, f32, float, f32)
WEFT_PRODUCT(BF16, bf16, BF16, bf16)
WEFT_PRODUCT(BF16, bf16, float, f32)
WEFT_PRODUCT(F16, f16, F16, f16)
WEFT_PRODUCT(F16, f16, float, f32)

WEFT_KERNEL(finish_f32, FinishArguments, 256) { Finish<float>(args); }
WEFT_KERNEL(finish_bf16, FinishArguments, 256) { Finish<BF16>(args); }
WEFT_KERNEL(finish_f16, FinishArguments, 256) { Finish<F16>(args); }
