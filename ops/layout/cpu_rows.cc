// slice, pad and concat: of one dim, with everything behind it, a row is made.
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/abi/match_spec.h"
#include "ops/layout/cpu_internal.h"

namespace weft::layout {
namespace {

absl::Status CheckDims(const char* what, const TensorSpec& tensor, const std::vector<int64_t>& expected) {
  if (tensor.dims == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": expected dims [", absl::StrJoin(expected, ","), "], got ", tensor.ToString()));
}

// Rows of a tensor that is cut along `dim`: their number, and the bytes of one
// step along the dim.
struct Cut {
  int64_t count, unit;
};

Cut CutAt(const TensorSpec& tensor, int64_t dim) {
  return {Product(tensor.dims, 0, dim),
          Product(tensor.dims, dim + 1, tensor.rank()) * static_cast<int64_t>(SizeOf(tensor.dtype))};
}

class SliceKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    if (absl::Status status = CheckSameType(spec); !status.ok()) return status;
    const TensorSpec& x = spec.inputs[0];
    absl::StatusOr<int64_t> dim = IntAttribute(spec, "dim", 0, x.rank());
    if (!dim.ok()) return dim.status();
    absl::StatusOr<int64_t> size = IntAttribute(spec, "size", 0, x.dims[*dim] + 1);
    if (!size.ok()) return size.status();
    absl::StatusOr<int64_t> offset = IntAttribute(spec, "offset", 0, x.dims[*dim] - *size + 1);
    if (!offset.ok()) return offset.status();
    std::vector<int64_t> dims = x.dims;
    dims[*dim] = *size;
    if (absl::Status status = CheckDims("output 0", spec.outputs[0], dims); !status.ok()) return status;
    const Cut cut = CutAt(x, *dim);
    return std::make_unique<SliceKernel>(spec.threads, Rows{cut.count, *size * cut.unit}, *offset * cut.unit,
                                         x.dims[*dim] * cut.unit);
  }

  SliceKernel(int threads, Rows rows, int64_t offset, int64_t stride)
      : threads_(threads), rows_(rows), offset_(offset), stride_(stride) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    CopyRows(threads_, rows_, static_cast<const char*>(inputs[0]) + offset_, stride_, outputs[0], rows_.bytes);
    return absl::OkStatus();
  }

 private:
  int threads_;
  Rows rows_;
  int64_t offset_, stride_;
};

class PadKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    if (absl::Status status = CheckSameType(spec); !status.ok()) return status;
    const TensorSpec &x = spec.inputs[0], &y = spec.outputs[0];
    absl::StatusOr<int64_t> dim = IntAttribute(spec, "dim", 0, x.rank());
    if (!dim.ok()) return dim.status();
    absl::StatusOr<int64_t> before = spec.attributes.Int("before"), after = spec.attributes.Int("after");
    if (!before.ok()) return before.status();
    if (!after.ok()) return after.status();
    if (*before < 0 || *after < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("attributes `before` and `after`: expected 0 or more, got ", *before, " and ", *after));
    }
    std::vector<int64_t> dims = x.dims;
    dims[*dim] += *before + *after;
    if (absl::Status status = CheckDims("output 0", y, dims); !status.ok()) return status;
    const Cut cut = CutAt(x, *dim);
    return std::make_unique<PadKernel>(spec.threads, cut.count, x.dims[*dim] * cut.unit, *before * cut.unit,
                                       *after * cut.unit);
  }

  PadKernel(int threads, int64_t count, int64_t bytes, int64_t before, int64_t after)
      : threads_(threads), count_(count), bytes_(bytes), before_(before), after_(after) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    auto* y = static_cast<char*>(outputs[0]);
    const int64_t stride = before_ + bytes_ + after_;
    ZeroRows(threads_, {count_, before_}, y, stride);
    CopyRows(threads_, {count_, bytes_}, inputs[0], bytes_, y + before_, stride);
    ZeroRows(threads_, {count_, after_}, y + before_ + bytes_, stride);
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t count_, bytes_, before_, after_;  // bytes of a row
};

class ConcatKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    if (spec.inputs.empty()) return absl::InvalidArgumentError("expected one or more inputs, got none");
    if (absl::Status status = CheckArity(spec, spec.inputs.size(), 1); !status.ok()) return status;
    const TensorSpec& y = spec.outputs[0];
    absl::StatusOr<int64_t> dim = IntAttribute(spec, "dim", 0, y.rank());
    if (!dim.ok()) return dim.status();
    const Cut cut = CutAt(y, *dim);
    std::vector<int64_t> bytes;
    int64_t sum = 0;
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      const TensorSpec& x = spec.inputs[i];
      const std::string what = absl::StrCat("input ", i);
      if (x.dtype != y.dtype || x.rank() != y.rank()) {
        return absl::InvalidArgumentError(
            absl::StrCat(what, ": expected ", NameOf(y.dtype), " of rank ", y.rank(), ", got ", x.ToString()));
      }
      std::vector<int64_t> dims = y.dims;
      dims[*dim] = x.dims[*dim];
      if (absl::Status status = CheckDims(what.c_str(), x, dims); !status.ok()) return status;
      bytes.push_back(x.dims[*dim] * cut.unit);
      sum += x.dims[*dim];
    }
    if (sum != y.dims[*dim]) {
      return absl::InvalidArgumentError(
          absl::StrCat("output 0: expected dim ", *dim, " to be ", sum, ", got ", y.ToString()));
    }
    return std::make_unique<ConcatKernel>(spec.threads, cut.count, std::move(bytes), sum * cut.unit);
  }

  ConcatKernel(int threads, int64_t count, std::vector<int64_t> bytes, int64_t stride)
      : threads_(threads), count_(count), bytes_(std::move(bytes)), stride_(stride) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    auto* y = static_cast<char*>(outputs[0]);
    for (size_t i = 0; i < inputs.size(); ++i) {
      CopyRows(threads_, {count_, bytes_[i]}, inputs[i], bytes_[i], y, stride_);
      y += bytes_[i];
    }
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t count_;
  std::vector<int64_t> bytes_;  // of a row of each input
  int64_t stride_;
};

}  // namespace

void RegisterRows(KernelRegistry& registry) {
  registry.Register("slice", &SliceKernel::Create);
  registry.Register("pad", &PadKernel::Create);
  registry.Register("concat", &ConcatKernel::Create);
}

}  // namespace weft::layout
