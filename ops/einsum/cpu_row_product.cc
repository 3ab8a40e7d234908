#include "ops/einsum/cpu_row_product.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/float_types.h"
#include "ops/abi/parallel.h"

namespace weft::einsum {
namespace {

// Columns that a thread's share is made of: a cache line of the result.
constexpr int64_t kUnit = 16;
// Bytes of the matrix that are worth another thread: some 0.1 ms.
constexpr int64_t kGrain = 1 << 20;
// Rows of the matrix that are read at a time, and columns whose sums stay in the first-level cache meanwhile.
constexpr int64_t kRows = 8, kColumns = 4096;
// Sums that a long dot product is made of.
constexpr int64_t kLanes = 64;

// By instructions where there are some, as Widen() is not for float16.
float NumberOf(float x) { return x; }
float NumberOf(BFloat16 x) { return ToFloat(x); }
float NumberOf(Float16 x) { return static_cast<float>(std::bit_cast<_Float16>(x.bits)); }

typedef float Lanes __attribute__((vector_size(4 * kLanes)));

void Load(const float* from, Lanes& to) {
  typedef float Unaligned __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
  to = *reinterpret_cast<const Unaligned*>(from);
}
void Load(const BFloat16* from, Lanes& to) {
  typedef uint16_t Unaligned __attribute__((vector_size(2 * kLanes), aligned(2), may_alias));
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
  to = reinterpret_cast<Lanes>(__builtin_convertvector(*reinterpret_cast<const Unaligned*>(from), Words) << 16);
}
void Load(const Float16* from, Lanes& to) {
  typedef _Float16 Unaligned __attribute__((vector_size(2 * kLanes), aligned(2), may_alias));
  to = __builtin_convertvector(*reinterpret_cast<const Unaligned*>(from), Lanes);
}

// sums[c] += over p of row[p] * matrix[p * stride + c], in the order of p.
template <int64_t kCount, typename T>
void AddRows(const float* __restrict row, const T* __restrict matrix, int64_t stride, int64_t columns,
             float* __restrict sums) {
  for (int64_t c = 0; c < columns; ++c) {
    float sum = sums[c];
#pragma clang loop unroll(full)
    for (int64_t p = 0; p < kCount; ++p) sum = __builtin_fmaf(row[p], NumberOf(matrix[p * stride + c]), sum);
    sums[c] = sum;
  }
}

template <typename T>
void TimesRows(const float* row, const T* matrix, int64_t stride, int64_t inner, int64_t columns, float* sums) {
  std::fill_n(sums, columns, 0.0f);
  int64_t p = 0;
  for (; p + kRows <= inner; p += kRows) AddRows<kRows>(row + p, matrix + p * stride, stride, columns, sums);
  for (; p < inner; ++p) AddRows<1>(row + p, matrix + p * stride, stride, columns, sums);
}

// The part that is no multiple of kLanes comes first, in order: that is all of a short one.
template <typename T>
float Dot(const float* a, const T* b, int64_t n) {
  float sum = 0;
  int64_t p = 0;
  for (; p < n % kLanes; ++p) sum = __builtin_fmaf(a[p], NumberOf(b[p]), sum);
  Lanes lanes = {}, x, y;
  for (; p < n; p += kLanes) {
    Load(a + p, x);
    Load(b + p, y);
    lanes += x * y;
  }
  for (int64_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  return sum;
}

template <typename T>
void WidenAll(const void* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = NumberOf(static_cast<const T*>(from)[i]);
}
template <typename T>
void NarrowAll(const float* from, int64_t n, void* to) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(to)[i] = Narrow<T>(from[i]);
}

// A matrix of T.
template <typename T>
class RowProduct : public Product {
 public:
  RowProduct(const Contraction& contraction, const DType (&types)[3], const Axis& columns, const Axis& inner,
             int threads)
      : batch_(contraction.batch),
        columns_(columns),
        inner_(inner),
        left_(types[kLeft]),
        result_(types[kResult]),
        threads_(threads) {
    for (const Axis& axis : batch_) batches_ *= axis.extent;
  }

  // The rows, in float32.
  size_t workspace_bytes() const override {
    return left_ == DType::kF32 ? 0 : static_cast<size_t>(batches_ * inner_.extent) * sizeof(float);
  }

  absl::Status Run(const void* left, const void* right, void* result, void* workspace) override {
    auto* const rows = static_cast<float*>(workspace);
    for (int64_t batch = 0; left_ != DType::kF32 && batch < batches_; ++batch) {
      const void* const row = static_cast<const char*>(left) + PlaceOf(batch, kLeft) * 2;
      (left_ == DType::kBF16 ? WidenAll<BFloat16> : WidenAll<Float16>)(row, inner_.extent,
                                                                       rows + batch * inner_.extent);
    }
    const int64_t units = (columns_.extent + kUnit - 1) / kUnit;
    const int64_t unit_bytes = kUnit * std::max<int64_t>(inner_.extent, 1) * static_cast<int64_t>(sizeof(T));
    ParallelFor(threads_, batches_ * units, std::max<int64_t>(kGrain / unit_bytes, 1), [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t batch = begin / units, last = std::min(end, (batch + 1) * units);
        const float* const row = left_ == DType::kF32 ? static_cast<const float*>(left) + PlaceOf(batch, kLeft)
                                                      : rows + batch * inner_.extent;
        const int64_t end_column = std::min((last - batch * units) * kUnit, columns_.extent);
        for (int64_t column = (begin - batch * units) * kUnit; column < end_column; column += kColumns) {
          RunColumns(batch, column, std::min(kColumns, end_column - column), row, static_cast<const T*>(right),
                     static_cast<char*>(result));
        }
        begin = last;
      }
    });
    return absl::OkStatus();
  }

 private:
  // Of an element of the batch, in elements of the operand.
  int64_t PlaceOf(int64_t batch, int operand) const {
    int64_t place = 0;
    for (auto axis = batch_.rbegin(); axis != batch_.rend(); ++axis) {
      place += batch % axis->extent * axis->stride[operand];
      batch /= axis->extent;
    }
    return place;
  }

  void RunColumns(int64_t batch, int64_t first, int64_t count, const float* row, const T* right, char* result) const {
    float sums[kColumns];
    const T* const matrix = right + PlaceOf(batch, kRight);
    if (columns_.stride[kRight] == 1) {
      TimesRows(row, matrix + first, inner_.stride[kRight], inner_.extent, count, sums);
    } else {
      for (int64_t c = 0; c < count; ++c) {
        sums[c] = Dot(row, matrix + (first + c) * columns_.stride[kRight], inner_.extent);
      }
    }
    void* const to = result + (PlaceOf(batch, kResult) + first) * static_cast<int64_t>(SizeOf(result_));
    (result_ == DType::kF32    ? NarrowAll<float>
     : result_ == DType::kBF16 ? NarrowAll<BFloat16>
                               : NarrowAll<Float16>)(sums, count, to);
  }

  const std::vector<Axis> batch_;
  const Axis columns_, inner_;
  const DType left_, result_;
  const int threads_;
  int64_t batches_ = 1;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Product>> CreateRowProduct(const Contraction& contraction, const DType (&types)[3],
                                                          int threads) {
  for (DType type : types) {
    if (!WidensToFloat(type)) {
      return absl::UnimplementedError(absl::StrCat("expected f32, bf16 or f16, got ", NameOf(type)));
    }
  }
  const auto only = [](const std::vector<Axis>& axes) { return axes.empty() ? Axis{1, {1, 1, 1}} : axes[0]; };
  const Axis columns = only(contraction.columns), inner = only(contraction.inner);
  if (only(contraction.rows).extent != 1) return absl::UnimplementedError("expected one row, got more");
  if (inner.extent > 1 && (inner.stride[kLeft] != 1 || (inner.stride[kRight] != 1 && columns.stride[kRight] != 1))) {
    return absl::UnimplementedError("expected a row, and rows or columns, next to each other, got others");
  }
  switch (types[kRight]) {
    case DType::kF32:
      return std::make_unique<RowProduct<float>>(contraction, types, columns, inner, threads);
    case DType::kBF16:
      return std::make_unique<RowProduct<BFloat16>>(contraction, types, columns, inner, threads);
    default:
      return std::make_unique<RowProduct<Float16>>(contraction, types, columns, inner, threads);
  }
}

}  // namespace weft::einsum
