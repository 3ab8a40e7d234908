// The pieces of batch normalisation: the formulas are those of cpu.cc.
//
// Sums are in double. Where the innermost dims are summed over, a block has one kept index: its threads take every
// kThreads-th element. Where they are kept, a block has 32 neighbouring kept indices, and eight threads share each.
// Both combine in an order that the shape alone decides.
#include "ops/batch_norm/cuda_arguments.h"
#include "ops/cuda/dims.h"
#include "ops/cuda/kernel.h"
#include "ops/cuda/reduce.h"
#include "ops/cuda/types.h"

namespace {

using namespace weft::gpu;
using namespace weft::batch_norm;

WEFT_DEVICE float RstdOf(const BatchNormArguments& args, int64_t k) {
  return 1.0f / sqrtf(args.variance[k] + args.eps);
}

struct Sums {
  double a = 0, b = 0;
};

// The squared distance from the mean.
template <typename T>
struct Distances {
  WEFT_DEVICE Distances(const BatchNormArguments& args, int64_t k)
      : x_(static_cast<const T*>(args.x)), mean_(args.mean[k]) {}
  WEFT_DEVICE void Add(int64_t i, Sums& sums) const {
    const double distance = Widen(x_[i]) - mean_;
    sums.a += distance * distance;
  }
  WEFT_DEVICE static void Write(const BatchNormArguments& args, int64_t k, const Sums& sums) {
    args.sum[k] = static_cast<float>(sums.a * args.share);
  }

 private:
  const T* x_;
  float mean_;
};

// dy, and dy n.
template <typename T>
struct Products {
  WEFT_DEVICE Products(const BatchNormArguments& args, int64_t k)
      : dy_(static_cast<const T*>(args.dy)),
        x_(static_cast<const T*>(args.x)),
        mean_(args.mean[k]),
        rstd_(RstdOf(args, k)) {}
  WEFT_DEVICE void Add(int64_t i, Sums& sums) const {
    const double gradient = Widen(dy_[i]), n = (Widen(x_[i]) - mean_) * rstd_;
    sums.a += gradient;
    sums.b += gradient * n;
  }
  WEFT_DEVICE static void Write(const BatchNormArguments& args, int64_t k, const Sums& sums) {
    args.sum[k] = static_cast<float>(sums.a);
    args.sum_n[k] = static_cast<float>(sums.b);
  }

 private:
  const T *dy_, *x_;
  float mean_, rstd_;
};

template <typename Terms>
WEFT_DEVICE void SumRows(const BatchNormArguments& args) {
  for (int64_t k = blockIdx.x; k < args.kept.count; k += gridDim.x) {
    const int64_t from = OffsetOf(args.kept, k);
    const Terms terms(args, k);
    Sums sums;
    for (int64_t i = threadIdx.x; i < args.reduced.count * args.row; i += blockDim.x) {
      terms.Add(from + OffsetOf(args.reduced, i / args.row) + i % args.row, sums);
    }
    sums.a = BlockReduce<Sum>(sums.a);
    sums.b = BlockReduce<Sum>(sums.b);
    if (threadIdx.x == 0) Terms::Write(args, k, sums);
  }
}

template <typename Terms>
WEFT_DEVICE void SumColumns(const BatchNormArguments& args) {
  constexpr int kRows = kThreads / kColumns;
  __shared__ Sums parts[kRows][kColumns];
  const int64_t columns = (args.row + kColumns - 1) / kColumns;
  for (int64_t tile = blockIdx.x; tile < args.kept.count * columns; tile += gridDim.x) {
    const int64_t outer = tile / columns, column = tile % columns * kColumns + threadIdx.x;
    const int64_t from = OffsetOf(args.kept, outer) + column, k = outer * args.row + column;
    Sums sums;
    if (column < args.row) {
      const Terms terms(args, k);
      for (int64_t r = threadIdx.y; r < args.reduced.count; r += kRows) {
        terms.Add(from + OffsetOf(args.reduced, r), sums);
      }
    }
    parts[threadIdx.y][threadIdx.x] = sums;
    __syncthreads();
    if (threadIdx.y == 0 && column < args.row) {
      for (int r = 1; r < kRows; ++r) {
        sums.a += parts[r][threadIdx.x].a;
        sums.b += parts[r][threadIdx.x].b;
      }
      Terms::Write(args, k, sums);
    }
    __syncthreads();
  }
}

// Calls body(element, k) for every element, k its kept index.
template <typename Body>
WEFT_DEVICE void ForEachElement(const BatchNormArguments& args, const Body& body) {
  for (int64_t i : EachOf(args.kept.count * args.reduced.count * args.row)) {
    const int64_t line = i / args.row, column = i % args.row, outer = line / args.reduced.count;
    const int64_t k = args.rows_reduced ? outer : outer * args.row + column;
    body(OffsetOf(args.kept, outer) + OffsetOf(args.reduced, line % args.reduced.count) + column, k);
  }
}

template <typename T>
WEFT_DEVICE void Apply(const BatchNormArguments& args) {
  ForEachElement(args, [&](int64_t i, int64_t k) {
    const float scale = RstdOf(args, k) * args.weight[k % args.channels];
    const float distance = Widen(static_cast<const T*>(args.x)[i]) - args.mean[k];
    static_cast<T*>(args.y)[i] = Narrow<T>(distance * scale + args.bias[k % args.channels]);
  });
}

template <typename T>
WEFT_DEVICE void Grad(const BatchNormArguments& args) {
  const float share = static_cast<float>(args.share);
  ForEachElement(args, [&](int64_t i, int64_t k) {
    const float rstd = RstdOf(args, k), scale = rstd * args.weight[k % args.channels];
    const float distance = Widen(static_cast<const T*>(args.x)[i]) - args.mean[k];
    const float gradient = Widen(static_cast<const T*>(args.dy)[i]);
    static_cast<T*>(args.y)[i] =
        Narrow<T>(scale * (gradient - args.dy_sum[k] * share - distance * (args.dyn_sum[k] * share * rstd)));
  });
}

}  // namespace

#define WEFT_BATCH_NORM(T, type)                                                                         \
  WEFT_KERNEL(variance_rows_##type, BatchNormArguments, kThreads) { SumRows<Distances<T>>(args); }       \
  WEFT_KERNEL(variance_columns_##type, BatchNormArguments, kThreads) { SumColumns<Distances<T>>(args); } \
  WEFT_KERNEL(sums_rows_##type, BatchNormArguments, kThreads) { SumRows<Products<T>>(args); }            \
  WEFT_KERNEL(sums_columns_##type, BatchNormArguments, kThreads) { SumColumns<Products<T>>(args); }      \
  WEFT_KERNEL(apply_##type, BatchNormArguments, kThreads) { Apply<T>(args); }                            \
  WEFT_KERNEL(grad_##type, BatchNormArguments, kThreads) { Grad<T>(args); }

WEFT_BATCH_NORM(float, f32)
WEFT_BATCH_NORM(BF16, bf16)
WEFT_BATCH_NORM(F16, f16)
