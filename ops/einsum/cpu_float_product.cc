#include "ops/einsum/cpu_float_product.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "ops/abi/parallel.h"
#include "ops/abi/shared_status.h"
#include "ops/abi/status_macros.h"

namespace weft::einsum {
namespace {

// One product of the batch in multiplications: small ones are not cut, larger ones into eight pieces at most, very
// large ones into more; always a power of two, for an even share each of two or four threads. What is cut is packed
// once a piece: eight pieces cost 6 % of one thread's time at GPT-2's shapes.
constexpr double kSmallPiece = 1 << 24, kLargePiece = 1 << 28;
// With few rows the time is that of reading the matrix, which two threads do at twice the rate: of one row from 1 MiB
// each on. 64 rows are as much work as kSmallPiece for as much of the matrix.
constexpr double kSmallPieceOfRow = 1 << 18;
constexpr double kPieces = 8, kMostPieces = 64;
// A library packs this many rows at a time: in 448 x 4096 floats where `inner` is long.
constexpr int64_t kMostRows = 4096;
constexpr int64_t kUnit = 16;  // pieces begin at multiples of it

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Extents and strides, in elements; the result's columns lie next to each other.
struct Shape {
  int64_t rows, columns, inner, result_row;
  struct Matrix {
    int64_t stride;
    bool transposed;
  } left, right;
};

// How `outer` x `inner` elements with these strides lie as a matrix.
std::optional<Shape::Matrix> MatrixOf(int64_t outer, int64_t outer_stride, int64_t inner, int64_t inner_stride) {
  if ((inner <= 1 || inner_stride == 1) && (outer <= 1 || outer_stride >= inner)) {
    return Shape::Matrix{std::max<int64_t>(outer <= 1 ? inner : outer_stride, 1), false};
  }
  if ((outer <= 1 || outer_stride == 1) && (inner <= 1 || inner_stride >= outer)) {
    return Shape::Matrix{std::max<int64_t>(inner <= 1 ? outer : inner_stride, 1), true};
  }
  return std::nullopt;
}

absl::StatusOr<Shape> ShapeOf(const Contraction& contraction) {
  const Axis none = {1, {1, 1, 1}};
  const Axis rows = contraction.rows.empty() ? none : contraction.rows[0];
  const Axis columns = contraction.columns.empty() ? none : contraction.columns[0];
  const Axis inner = contraction.inner.empty() ? none : contraction.inner[0];
  const auto left = MatrixOf(rows.extent, rows.stride[kLeft], inner.extent, inner.stride[kLeft]);
  const auto right = MatrixOf(inner.extent, inner.stride[kRight], columns.extent, columns.stride[kRight]);
  const auto result = MatrixOf(rows.extent, rows.stride[kResult], columns.extent, 1);
  if (!left || !right || !result || result->transposed) {
    return absl::UnimplementedError("expected matrices with rows or columns next to each other, got others");
  }
  for (int64_t number : {rows.extent, columns.extent, inner.extent, left->stride, right->stride, result->stride}) {
    if (number > std::numeric_limits<int>::max()) {
      return absl::UnimplementedError("expected extents below 2^31, got a longer one");
    }
  }
  return Shape{rows.extent, columns.extent, inner.extent, result->stride, *left, *right};
}

class FloatProduct : public Product {
 public:
  FloatProduct(const Contraction& contraction, const Shape& shape, int threads, Sgemm sgemm)
      : batch_(contraction.batch), shape_(shape), sgemm_(sgemm) {
    for (const Axis& axis : batch_) batches_ *= axis.extent;
    cut_ = CutFor(shape_.rows, shape_.columns, shape_.inner, std::max<int64_t>(batches_, 1));
    column_parts_ = CeilDiv(shape_.columns, std::max<int64_t>(cut_.columns, 1));
    parts_ = column_parts_ * CeilDiv(shape_.rows, std::max<int64_t>(cut_.rows, 1));
    const double useful = static_cast<double>(batches_) * static_cast<double>(shape_.rows) *
                          static_cast<double>(shape_.columns) *
                          static_cast<double>(std::max<int64_t>(shape_.inner, 1)) / kWorkOfThread;
    workers_ = std::clamp<int64_t>(static_cast<int64_t>(std::min(useful, 1e6)), 1, std::max(threads, 1));
    workers_ = std::min(workers_, std::max<int64_t>(1, batches_ * parts_));
  }

  size_t workspace_bytes() const override { return 0; }

  absl::Status Run(const void* left, const void* right, void* result, void* workspace) override {
    const int64_t units = batches_ * parts_;
    SharedStatus status;
    ParallelFor(static_cast<int>(workers_), workers_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t unit = units * begin / workers_; unit < units * end / workers_; ++unit) {
        status.Add(RunUnit(unit, static_cast<const float*>(left), static_cast<const float*>(right),
                           static_cast<float*>(result)));
      }
    });
    return status.Get();
  }

 private:
  absl::Status RunUnit(int64_t unit, const float* left, const float* right, float* result) const {
    int64_t at[3] = {0, 0, 0};
    int64_t rest = unit / parts_;
    for (auto axis = batch_.rbegin(); axis != batch_.rend(); ++axis) {
      for (int operand = 0; operand < 3; ++operand) at[operand] += rest % axis->extent * axis->stride[operand];
      rest /= axis->extent;
    }
    const int64_t row = unit % parts_ / column_parts_ * cut_.rows, column = unit % column_parts_ * cut_.columns;
    left += at[kLeft] + row * (shape_.left.transposed ? 1 : shape_.left.stride);
    right += at[kRight] + column * (shape_.right.transposed ? shape_.right.stride : 1);
    return sgemm_(static_cast<int>(std::min(cut_.rows, shape_.rows - row)),
                  static_cast<int>(std::min(cut_.columns, shape_.columns - column)), static_cast<int>(shape_.inner),
                  {left, static_cast<int>(shape_.left.stride), shape_.left.transposed},
                  {right, static_cast<int>(shape_.right.stride), shape_.right.transposed},
                  result + at[kResult] + row * shape_.result_row + column, static_cast<int>(shape_.result_row));
  }

  const std::vector<Axis> batch_;
  const Shape shape_;
  const Sgemm sgemm_;
  Cut cut_;
  int64_t column_parts_, parts_;  // pieces of a row of pieces, of one product
  int64_t batches_ = 1, workers_ = 1;
};

}  // namespace

Cut CutFor(int64_t rows, int64_t columns, int64_t inner, int64_t batches) {
  const double work = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(inner);
  const double small = std::min(kSmallPiece, kSmallPieceOfRow * static_cast<double>(std::max<int64_t>(rows, 1)));
  const double many = std::max(std::min(work / small, kPieces), std::min(work / kLargePiece, kMostPieces));
  const double wanted = std::exp2(std::floor(std::log2(std::max(many / static_cast<double>(batches), 1.0))));
  // As square as can be: the sum of a piece's sides is what it packs.
  Cut best = {std::min(rows, kMostRows), columns};
  double least = std::numeric_limits<double>::infinity();
  const int64_t fewest = std::max<int64_t>(CeilDiv(rows, kMostRows), 1);
  for (int64_t row_parts = fewest; row_parts <= std::max<int64_t>(fewest, std::lround(wanted)); row_parts *= 2) {
    if (row_parts > fewest && rows < row_parts * kUnit) break;  // these are not cut
    const int64_t column_parts = std::max<int64_t>(1, std::lround(wanted / static_cast<double>(row_parts)));
    const Cut cut = {CeilDiv(CeilDiv(rows, row_parts), kUnit) * kUnit,
                     CeilDiv(CeilDiv(columns, column_parts), kUnit) * kUnit};
    const double packed = 1.0 / static_cast<double>(cut.rows) + 1.0 / static_cast<double>(cut.columns);
    if (packed >= least) continue;
    least = packed;
    best = cut;
  }
  return best;
}

absl::StatusOr<std::unique_ptr<Product>> CreateFloatProduct(const Contraction& contraction, int threads, Sgemm sgemm) {
  WEFT_ASSIGN_OR_RETURN(Shape shape, ShapeOf(contraction));
  return std::make_unique<FloatProduct>(contraction, shape, threads, sgemm);
}

}  // namespace weft::einsum
