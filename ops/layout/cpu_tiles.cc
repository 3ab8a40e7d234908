// copy_tile: from one tile of a global tensor to another one.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/parallel.h"
#include "ops/layout/cpu_internal.h"

namespace weft::layout {
namespace {

// One dim of both tiles: the source covers [begin, end) of the target's
// extent; the target's index i is the source's i + shift.
struct Dim {
  int64_t extent, begin, end, shift;
  int64_t from_stride;  // of the source, in bytes
};

// y's row is its last dims that the source runs through alike, and the cut one
// before them; a row outside the source is 0, one that meets it has zeros
// before and behind what is copied.
class CopyTileKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    if (absl::Status status = CheckSameType(spec); !status.ok()) return status;
    const TensorSpec &x = spec.inputs[0], &y = spec.outputs[0];
    if (x.global_dims != y.global_dims) {
      return absl::InvalidArgumentError(
          absl::StrCat("output 0: expected a tile of the tensor that ", x.ToString(), " is of, got ", y.ToString()));
    }
    return std::make_unique<CopyTileKernel>(spec);
  }

  explicit CopyTileKernel(const KernelSpec& spec) : threads_(spec.threads) {
    const TensorSpec &x = spec.inputs[0], &y = spec.outputs[0];
    int64_t d = y.rank() - 1, unit = static_cast<int64_t>(SizeOf(y.dtype));
    while (d >= 0 && x.dims[d] == y.dims[d] && x.origin[d] == y.origin[d]) unit *= y.dims[d--];
    row_ = d < 0 ? Dim{1, 0, 1, 0, unit} : MakeDim(x, y, d, unit);
    unit_ = unit;
    int64_t stride = d < 0 ? unit : unit * x.dims[d];
    for (--d; d >= 0; --d) {
      outer_.push_back(MakeDim(x, y, d, stride));
      rows_ *= y.dims[d];
      stride *= x.dims[d];
    }
  }

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
  static Dim MakeDim(const TensorSpec& x, const TensorSpec& y, int64_t d, int64_t from_stride) {
    const int64_t begin = std::max(x.origin[d], y.origin[d]) - y.origin[d];
    const int64_t end = std::min(x.origin[d] + x.dims[d], y.origin[d] + y.dims[d]) - y.origin[d];
    return {y.dims[d], begin, end, y.origin[d] - x.origin[d], from_stride};
  }

  // Where the part of a row that is copied begins in the source; null if the
  // source does not meet the row.
  const char* Source(const char* x, int64_t row) const {
    if (row_.begin >= row_.end) return nullptr;
    for (const Dim& dim : outer_) {  // innermost first
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
  Dim row_{};
  int64_t unit_ = 1;  // bytes of one step along the row's dim
  std::vector<Dim> outer_;
  int64_t rows_ = 1;
};

}  // namespace

void RegisterTiles(KernelRegistry& registry) { registry.Register("copy_tile", &CopyTileKernel::Create); }

}  // namespace weft::layout
