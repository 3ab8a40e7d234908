// copy, reshape and mask_rank: the bytes as they are, or zeros.
#include <memory>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"
#include "ops/layout/cpu_internal.h"

namespace weft::layout {
namespace {

class CopyKernel : public Kernel {
 public:
  CopyKernel(int threads, int64_t bytes) : threads_(threads), bytes_(bytes) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    CopyRows(threads_, {1, bytes_}, inputs[0], bytes_, outputs[0], bytes_);
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t bytes_;
};

class ZeroKernel : public Kernel {
 public:
  ZeroKernel(int threads, int64_t bytes) : threads_(threads), bytes_(bytes) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    ZeroRows(threads_, {1, bytes_}, outputs[0], bytes_);
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t bytes_;
};

std::unique_ptr<Kernel> MakeCopy(const KernelSpec& spec) {
  return std::make_unique<CopyKernel>(spec.threads, static_cast<int64_t>(spec.outputs[0].bytes()));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateCopy(const KernelSpec& spec) {
  if (absl::Status status = CheckSameType(spec); !status.ok()) return status;
  if (auto extents = MatchSpec(spec, "any:.->any:."); !extents.ok()) return extents.status();
  return MakeCopy(spec);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateReshape(const KernelSpec& spec) {
  if (absl::Status status = CheckSameType(spec); !status.ok()) return status;
  if (spec.inputs[0].elements() != spec.outputs[0].elements()) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected ", spec.inputs[0].elements(), " elements, got ", spec.outputs[0].ToString()));
  }
  return MakeCopy(spec);
}

// One rank of those along the axes keeps the value and the others hold 0, so
// that their sum is the value.
absl::StatusOr<std::unique_ptr<Kernel>> CreateMaskRank(const KernelSpec& spec) {
  if (absl::Status status = CheckSameType(spec); !status.ok()) return status;
  if (auto extents = MatchSpec(spec, "any:.->any:."); !extents.ok()) return extents.status();
  absl::StatusOr<std::vector<int64_t>> axes = spec.attributes.Ints("axes");
  if (!axes.ok()) return axes.status();
  bool first = true;
  for (int64_t axis : *axes) {
    const auto size = static_cast<int64_t>(spec.coordinates.size());
    if (axis < 0 || axis >= size) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute `axes`: expected axes of a mesh of ", size, ", got ", axis));
    }
    first = first && spec.coordinates[axis] == 0;
  }
  if (first) return MakeCopy(spec);
  std::unique_ptr<Kernel> zero =
      std::make_unique<ZeroKernel>(spec.threads, static_cast<int64_t>(spec.outputs[0].bytes()));
  return zero;
}

}  // namespace

void RegisterCopies(KernelRegistry& registry) {
  registry.Register("copy", &CreateCopy);
  registry.Register("reshape", &CreateReshape);
  registry.Register("mask_rank", &CreateMaskRank);
}

}  // namespace weft::layout
