// copy_tile: from one tile of a global tensor to another one.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "ops/abi/parallel.h"
#include "ops/layout/cpu_internal.h"
#include "ops/layout/plan.h"

namespace weft::layout {
namespace {

// y's row is its last dims that the source runs through alike, and the cut one
// before them; a row outside the source is 0, one that meets it has zeros
// before and behind what is copied.
class CopyTileKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(CopyTilePlan plan, PlanCopyTile(spec));
    return std::make_unique<CopyTileKernel>(spec.threads, std::move(plan));
  }

  CopyTileKernel(int threads, CopyTilePlan plan)
      : threads_(threads), row_(plan.row), unit_(plan.unit), outer_(std::move(plan.outer)), rows_(plan.rows) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const char*>(inputs[0]);
    auto* y = static_cast<char*>(outputs[0]);
    const int64_t bytes = row_.extent * unit_;
    if (rows_ == 1) {  // spread a long row over the threads
      if (const char* from = Source(x, 0)) {
        ZeroRows(threads_, {1, row_.begin * unit_}, y, 0);
        const Rows inside{1, (row_.end - row_.begin) * unit_};
        CopyRows(threads_, inside, from, 0, y + row_.begin * unit_, 0);
        ZeroRows(threads_, {1, (row_.extent - row_.end) * unit_}, y + row_.end * unit_, 0);
      } else {
        ZeroRows(threads_, {1, bytes}, y, 0);
      }
      return absl::OkStatus();
    }
    ParallelFor(threads_, rows_, std::max<int64_t>(1, kGrainBytes / std::max<int64_t>(bytes, 1)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) CopyRow(Source(x, row), y + row * bytes);
                });
    return absl::OkStatus();
  }

 private:
  // Where the part of a row that is copied begins in the source; null if the
  // source does not meet the row.
  const char* Source(const char* x, int64_t row) const {
    if (row_.begin >= row_.end) return nullptr;
    for (const TileDim& dim : outer_) {  // innermost first
      const int64_t index = row % dim.extent;
      row /= dim.extent;
      if (index < dim.begin || index >= dim.end) return nullptr;
      x += (index + dim.shift) * dim.from_stride;
    }
    return x + (row_.begin + row_.shift) * row_.from_stride;
  }

  void CopyRow(const char* from, char* y) const {
    if (from == nullptr) {
      std::memset(y, 0, static_cast<size_t>(row_.extent * unit_));
      return;
    }
    std::memset(y, 0, static_cast<size_t>(row_.begin * unit_));
    std::memcpy(y + row_.begin * unit_, from, static_cast<size_t>((row_.end - row_.begin) * unit_));
    std::memset(y + row_.end * unit_, 0, static_cast<size_t>((row_.extent - row_.end) * unit_));
  }

  int threads_;
  TileDim row_;
  int64_t unit_;  // bytes of one step along the row's dim
  std::vector<TileDim> outer_;
  int64_t rows_;
};

}  // namespace

void RegisterTiles(KernelRegistry& registry) { registry.Register("copy_tile", &CopyTileKernel::Create); }

}  // namespace weft::layout
