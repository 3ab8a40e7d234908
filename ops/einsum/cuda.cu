// A tiled matrix product for any strides: the fallback that is always there.
//
// A block of 16 x 16 threads makes a 64 x 64 tile of one matrix of the batch;
// each thread 4 x 4 elements, 16 apart, in registers. Tiles of both operands, 16
// deep, go through shared memory as float. What lies beyond the matrices is 0.
// Every element is one sum in ascending order of the inner index: deterministic.
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

template <typename T, typename R>
WEFT_DEVICE void Product(const ProductArguments& args) {
  __shared__ float left_tile[kDepth][kTile + 1];
  __shared__ float right_tile[kDepth][kTile + 1];
  const int64_t first_row = int64_t{blockIdx.x} * kTile, first_column = int64_t{blockIdx.y} * kTile;
  for (int64_t batch = blockIdx.z; batch < args.batch.size; batch += gridDim.z) {
    const T* left = static_cast<const T*>(args.left) + OffsetOf(args.batch, batch, 0);
    const T* right = static_cast<const T*>(args.right) + OffsetOf(args.batch, batch, 1);
    R* result = static_cast<R*>(args.result) + OffsetOf(args.batch, batch, 2);
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
        result[OffsetOf(args.rows, row, 2) + OffsetOf(args.columns, column, 2)] = Narrow<R>(sum[i][j]);
      }
    }
  }
}

}  // namespace

WEFT_KERNEL(product_f32_f32, ProductArguments, kSide* kSide) { Product<float, float>(args); }
WEFT_KERNEL(product_bf16_bf16, ProductArguments, kSide* kSide) { Product<BF16, BF16>(args); }
WEFT_KERNEL(product_bf16_f32, ProductArguments, kSide* kSide) { Product<BF16, float>(args); }
WEFT_KERNEL(product_f16_f16, ProductArguments, kSide* kSide) { Product<F16, F16>(args); }
WEFT_KERNEL(product_f16_f32, ProductArguments, kSide* kSide) { Product<F16, float>(args); }
