// A tiled matrix product for any strides: the fallback that is always there.
//
// A block of 16 x 16 threads makes a 64 x 64 tile of one matrix of the batch;
// each thread 4 x 4 elements, 16 apart, in registers. Tiles of both operands, 16
// deep, go through shared memory as float. What lies beyond the matrices is 0.
// Every element is one sum in ascending order of the inner index: deterministic.
//
// What an epilogue does is done before a sum is written, or by finish_* to what
// another product has written; sums over rows are a launch of their own.
#include "ops/cuda/gelu.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/types.h"
#include "ops/einsum/cuda_arguments.h"

namespace {

using namespace weft::gpu;
using namespace weft::einsum;

constexpr int kEach = kTile / kSide;
constexpr int kLoads = kTile * kDepth / (kSide * kSide);

// Of element `index` of the axes, in operand `o`.
WEFT_DEVICE int64_t OffsetOf(const AxisList& axes, int64_t index, int o) {
  int64_t offset = 0;
  for (int a = 0; a < axes.count; ++a) {
    offset += index % axes.extent[a] * axes.stride[a][o];
    index /= axes.extent[a];
  }
  return offset;
}

// Loads a kTile x kDepth tile of an operand whose outer axes are rows or columns:
// tile[d][t] is the element of outer index first + t and inner index depth + d.
template <typename T>
WEFT_DEVICE void LoadTile(const T* matrix, const AxisList& outer, int64_t first, const AxisList& inner, int64_t depth,
                          int o, float (&tile)[kDepth][kTile + 1]) {
  const int thread = static_cast<int>(threadIdx.y * kSide + threadIdx.x);
  // Neighbouring threads go along the dim whose elements are neighbours.
  const bool along_inner = inner.count > 0 && inner.stride[0][o] == 1;
  for (int load = 0; load < kLoads; ++load) {
    const int at = thread + load * kSide * kSide;
    const int d = along_inner ? at % kDepth : at / kTile, t = along_inner ? at / kDepth : at % kTile;
    const bool inside = first + t < outer.size && depth + d < inner.size;
    tile[d][t] = inside ? Widen(matrix[OffsetOf(outer, first + t, o) + OffsetOf(inner, depth + d, o)]) : 0.0f;
  }
}

template <typename R>
WEFT_DEVICE R Finished(const EpilogueArguments& args, int64_t at, float value) {
  if (args.bias != nullptr) value += Widen(static_cast<const R*>(args.bias)[at % args.bias_size]);
  if (args.kept != nullptr) static_cast<R*>(args.kept)[at] = Narrow<R>(value);
  if (args.gelu != 0) value = GeluTanh::Value(value);
  if (args.gelu_operand != nullptr) value *= GeluTanh::Slope(Widen(static_cast<const R*>(args.gelu_operand)[at]));
  return Narrow<R>(value);
}

template <typename T, typename R>
WEFT_DEVICE void Product(const ProductArguments& args) {
  __shared__ float left_tile[kDepth][kTile + 1];
  __shared__ float right_tile[kDepth][kTile + 1];
  const int64_t first_row = int64_t{blockIdx.x} * kTile, first_column = int64_t{blockIdx.y} * kTile;
  for (int64_t batch = blockIdx.z; batch < args.batch.size; batch += gridDim.z) {
    const T* left = static_cast<const T*>(args.left) + OffsetOf(args.batch, batch, 0);
    const T* right = static_cast<const T*>(args.right) + OffsetOf(args.batch, batch, 1);
    const int64_t matrix = OffsetOf(args.batch, batch, 2);
    float sum[kEach][kEach] = {};
    for (int64_t depth = 0; depth < args.inner.size; depth += kDepth) {
      LoadTile(left, args.rows, first_row, args.inner, depth, 0, left_tile);
      LoadTile(right, args.columns, first_column, args.inner, depth, 1, right_tile);
      __syncthreads();
      for (int d = 0; d < kDepth; ++d) {
        for (int i = 0; i < kEach; ++i) {
          const float l = left_tile[d][threadIdx.y + i * kSide];
          for (int j = 0; j < kEach; ++j) sum[i][j] += l * right_tile[d][threadIdx.x + j * kSide];
        }
      }
      __syncthreads();
    }
    for (int i = 0; i < kEach; ++i) {
      const int64_t row = first_row + threadIdx.y + i * kSide;
      for (int j = 0; j < kEach; ++j) {
        const int64_t column = first_column + threadIdx.x + j * kSide;
        if (row >= args.rows.size || column >= args.columns.size) continue;
        const int64_t at = matrix + OffsetOf(args.rows, row, 2) + OffsetOf(args.columns, column, 2);
        static_cast<R*>(args.result)[at] = Finished<R>(args.epilogue, at, sum[i][j]);
      }
    }
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

#define WEFT_PRODUCT(T, t, R, r)                                                          \
  WEFT_KERNEL(product_##t##_##r, ProductArguments, kSide* kSide) { Product<T, R>(args); } \
  WEFT_KERNEL(column_sums_##t##_##r, ColumnSumArguments, 32 * kSumRows) { ColumnSums<T, R>(args); }

WEFT_PRODUCT(float, f32, float, f32)
WEFT_PRODUCT(BF16, bf16, BF16, bf16)
WEFT_PRODUCT(BF16, bf16, float, f32)
WEFT_PRODUCT(F16, f16, F16, f16)
WEFT_PRODUCT(F16, f16, float, f32)

WEFT_KERNEL(finish_f32, FinishArguments, 256) { Finish<float>(args); }
WEFT_KERNEL(finish_bf16, FinishArguments, 256) { Finish<BF16>(args); }
WEFT_KERNEL(finish_f16, FinishArguments, 256) { Finish<F16>(args); }
