#include "ops/einsum/cpu_row_product.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/abi/parallel.h"

namespace weft::einsum {
namespace {

// Columns that a thread's share is made of: a cache line of the result.
constexpr int64_t kUnit = 16;
// Elements of the matrix that are worth another thread: 1 MiB, some 0.1 ms.
constexpr int64_t kGrain = 1 << 18;
// Rows of the matrix that are read at a time, and columns whose sums stay in the first-level cache meanwhile.
constexpr int64_t kRows = 8, kColumns = 4096;
// Sums that a long dot product is made of.
constexpr int64_t kLanes = 64;

// sums[c] += over p of row[p] * matrix[p * stride + c], in the order of p.
template <int64_t kCount>
void AddRows(const float* __restrict row, const float* __restrict matrix, int64_t stride, int64_t columns,
             float* __restrict sums) {
  for (int64_t c = 0; c < columns; ++c) {
    float sum = sums[c];
#pragma clang loop unroll(full)
    for (int64_t p = 0; p < kCount; ++p) sum = __builtin_fmaf(row[p], matrix[p * stride + c], sum);
    sums[c] = sum;
  }
}

void TimesRows(const float* row, const float* matrix, int64_t stride, int64_t inner, int64_t columns, float* result) {
  for (int64_t begin = 0; begin < columns; begin += kColumns) {
    const int64_t count = std::min(kColumns, columns - begin);
    std::fill_n(result + begin, count, 0.0f);
    int64_t p = 0;
    for (; p + kRows <= inner; p += kRows) {
      AddRows<kRows>(row + p, matrix + p * stride + begin, stride, count, result + begin);
    }
    for (; p < inner; ++p) AddRows<1>(row + p, matrix + p * stride + begin, stride, count, result + begin);
  }
}

// The part that is no multiple of kLanes comes first, in order: that is all of a short one.
float Dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
  int64_t p = 0;
  for (; p < n % kLanes; ++p) sum = __builtin_fmaf(a[p], b[p], sum);
  typedef float Sums __attribute__((vector_size(4 * kLanes)));
  typedef float UnalignedSums __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
  Sums lanes = {};
  for (; p < n; p += kLanes) {
    const Sums x = *reinterpret_cast<const UnalignedSums*>(a + p), y = *reinterpret_cast<const UnalignedSums*>(b + p);
    lanes += x * y;
  }
  for (int64_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  return sum;
}

class RowProduct : public Product {
 public:
  RowProduct(const Contraction& contraction, const Axis& columns, const Axis& inner, int threads)
      : batch_(contraction.batch), columns_(columns), inner_(inner), threads_(threads) {
    for (const Axis& axis : batch_) batches_ *= axis.extent;
  }

  size_t workspace_bytes() const override { return 0; }

  absl::Status Run(const void* left, const void* right, void* result, void*) override {
    const int64_t units = (columns_.extent + kUnit - 1) / kUnit;
    const int64_t grain = std::max<int64_t>(kGrain / (kUnit * std::max<int64_t>(inner_.extent, 1)), 1);
    ParallelFor(threads_, batches_ * units, grain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t batch = begin / units, last = std::min(end, (batch + 1) * units);
        RunColumns(batch, (begin - batch * units) * kUnit, std::min((last - batch * units) * kUnit, columns_.extent),
                   static_cast<const float*>(left), static_cast<const float*>(right), static_cast<float*>(result));
        begin = last;
      }
    });
    return absl::OkStatus();
  }

 private:
  void RunColumns(int64_t batch, int64_t begin, int64_t end, const float* left, const float* right,
                  float* result) const {
    for (auto axis = batch_.rbegin(); axis != batch_.rend(); ++axis) {
      const int64_t at = batch % axis->extent;
      left += at * axis->stride[kLeft];
      right += at * axis->stride[kRight];
      result += at * axis->stride[kResult];
      batch /= axis->extent;
    }
    if (columns_.stride[kRight] == 1) {
      return TimesRows(left, right + begin, inner_.stride[kRight], inner_.extent, end - begin, result + begin);
    }
    for (int64_t c = begin; c < end; ++c) result[c] = Dot(left, right + c * columns_.stride[kRight], inner_.extent);
  }

  const std::vector<Axis> batch_;
  const Axis columns_, inner_;
  const int threads_;
  int64_t batches_ = 1;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Product>> CreateRowProduct(const Contraction& contraction, int threads) {
  const auto only = [](const std::vector<Axis>& axes) { return axes.empty() ? Axis{1, {1, 1, 1}} : axes[0]; };
  const Axis columns = only(contraction.columns), inner = only(contraction.inner);
  if (only(contraction.rows).extent != 1) return absl::UnimplementedError("expected one row, got more");
  if (inner.extent > 1 && (inner.stride[kLeft] != 1 || (inner.stride[kRight] != 1 && columns.stride[kRight] != 1))) {
    return absl::UnimplementedError("expected a row, and rows or columns, next to each other, got others");
  }
  return std::make_unique<RowProduct>(contraction, columns, inner, threads);
}

}  // namespace weft::einsum
