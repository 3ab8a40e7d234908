// copy, reshape and mask_rank: the bytes as they are, or zeros.
#include <memory>

#include "ops/layout/cpu_internal.h"
#include "ops/layout/plan.h"

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
  WEFT_RETURN_IF_ERROR(CheckCopy(spec));
  return MakeCopy(spec);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateReshape(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckReshape(spec));
  return MakeCopy(spec);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateMaskRank(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(bool keeps, KeepsValue(spec));
  if (keeps) return MakeCopy(spec);
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
