#include <algorithm>
#include <memory>
#include <vector>

#include "ops/abi/cpu_level.h"
#include "ops/abi/parallel.h"
#include "ops/einsum/cpu_product.h"
#include "ops/einsum/gemm.h"

namespace weft::einsum {
namespace {

constexpr double kWorkOfThread = 1 << 18;  // multiplications that are worth another thread

const GemmFunctions& FunctionsForThisCpu() { return CpuHasLevel4() ? v4::Functions() : v3::Functions(); }

GemmShape ShapeOf(const Contraction& contraction) {
  const Axis none = {1, {1, 1, 1}};
  const Axis rows = contraction.rows.empty() ? none : contraction.rows[0];
  const Axis columns = contraction.columns.empty() ? none : contraction.columns[0];
  const Axis inner = contraction.inner.empty() ? none : contraction.inner[0];
  return {rows.extent,         columns.extent,       inner.extent,           rows.stride[kLeft],
          inner.stride[kLeft], inner.stride[kRight], columns.stride[kRight], rows.stride[kResult]};
}

// How one product of the batch is cut: into row_parts x column_parts pieces of whole tiles.
struct Cut {
  int64_t row_parts, column_parts;
  int64_t parts() const { return row_parts * column_parts; }
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The cut into at most `parts` whose largest piece is smallest; more column parts where that is
// equal, as rows share what is packed.
Cut CutFor(const GemmShape& shape, int64_t parts) {
  const int64_t row_groups = CeilDiv(shape.rows, kGemmRows), panels = CeilDiv(shape.columns, kGemmColumns);
  Cut best = {1, 1};
  int64_t best_size = row_groups * kGemmRows * panels * kGemmColumns;
  for (int64_t columns = std::min(parts, panels); columns >= 1; --columns) {
    const int64_t rows = std::min(parts / columns, row_groups);
    const int64_t size = CeilDiv(row_groups, rows) * kGemmRows * CeilDiv(panels, columns) * kGemmColumns;
    if (size < best_size) {
      best = {rows, columns};
      best_size = size;
    }
  }
  return best;
}

// Begin of piece `index` of `parts` of `n` in whole `unit`s.
int64_t Begin(int64_t n, int64_t unit, int64_t index, int64_t parts) {
  return std::min(n, CeilDiv(n, unit) * index / parts * unit);
}

// Every element is summed in one order, however the work is cut, so results do not depend on threads.
class FloatProduct : public Product {
 public:
  FloatProduct(const Contraction& contraction, int threads)
      : batch_(contraction.batch), shape_(ShapeOf(contraction)), functions_(FunctionsForThisCpu()) {
    for (const Axis& axis : batch_) batches_ *= axis.extent;
    const double one = static_cast<double>(shape_.rows) * static_cast<double>(shape_.columns) *
                       static_cast<double>(std::max<int64_t>(shape_.inner, 1));
    const double useful = one * static_cast<double>(batches_) / kWorkOfThread;
    workers_ = std::clamp<int64_t>(static_cast<int64_t>(std::min(useful, 1e6)), 1, std::max(threads, 1));
    // Enough pieces that whole ones come out nearly even.
    cut_ = CutFor(shape_, batches_ >= 4 * workers_ ? 1 : workers_);
    workers_ = std::min(workers_, std::max<int64_t>(1, batches_ * cut_.parts()));
    scratch_floats_ = (functions_.scratch(shape_) + 15) / 16 * 16;
  }

  size_t workspace_bytes() const override { return static_cast<size_t>(workers_ * scratch_floats_) * sizeof(float); }

  absl::Status Run(const void* left, const void* right, void* result, void* workspace) override {
    const int64_t units = batches_ * cut_.parts();
    ParallelFor(static_cast<int>(workers_), workers_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t worker = begin; worker < end; ++worker) {
        float* scratch = static_cast<float*>(workspace) + worker * scratch_floats_;
        const int64_t last = units * (worker + 1) / workers_;
        for (int64_t unit = units * worker / workers_; unit < last; ++unit) {
          RunUnit(unit, static_cast<const float*>(left), static_cast<const float*>(right), static_cast<float*>(result),
                  scratch);
        }
      }
    });
    return absl::OkStatus();
  }

 private:
  void RunUnit(int64_t unit, const float* left, const float* right, float* result, float* scratch) const {
    int64_t at[3] = {0, 0, 0};
    int64_t rest = unit / cut_.parts();
    for (auto axis = batch_.rbegin(); axis != batch_.rend(); ++axis) {
      for (int operand = 0; operand < 3; ++operand) at[operand] += rest % axis->extent * axis->stride[operand];
      rest /= axis->extent;
    }
    const int64_t piece = unit % cut_.parts();
    const int64_t row = piece / cut_.column_parts, column = piece % cut_.column_parts;
    const GemmPart part = {Begin(shape_.rows, kGemmRows, row, cut_.row_parts),
                           Begin(shape_.rows, kGemmRows, row + 1, cut_.row_parts),
                           Begin(shape_.columns, kGemmColumns, column, cut_.column_parts),
                           Begin(shape_.columns, kGemmColumns, column + 1, cut_.column_parts)};
    functions_.run(shape_, part, left + at[kLeft], right + at[kRight], result + at[kResult], scratch);
  }

  const std::vector<Axis> batch_;
  const GemmShape shape_;
  const GemmFunctions& functions_;
  int64_t batches_ = 1;
  int64_t workers_ = 1;
  int64_t scratch_floats_ = 0;  // of one worker
  Cut cut_ = {1, 1};
};

}  // namespace

absl::StatusOr<std::unique_ptr<Product>> CreateFloatProduct(const Contraction& contraction, int threads) {
  return std::make_unique<FloatProduct>(contraction, threads);
}

}  // namespace weft::einsum
