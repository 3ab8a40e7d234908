// slice, pad and concat: of one dim, with everything behind it, a row is made.
#include <memory>
#include <utility>

#include "ops/layout/cpu_internal.h"
#include "ops/layout/plan.h"

namespace weft::layout {
namespace {

class SliceKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(SlicePlan plan, PlanSlice(spec));
    return std::make_unique<SliceKernel>(spec.threads, plan);
  }

  SliceKernel(int threads, const SlicePlan& plan) : threads_(threads), plan_(plan) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    CopyRows(threads_, {plan_.count, plan_.bytes}, static_cast<const char*>(inputs[0]) + plan_.offset, plan_.stride,
             outputs[0], plan_.bytes);
    return absl::OkStatus();
  }

 private:
  int threads_;
  SlicePlan plan_;
};

class PadKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(PadPlan plan, PlanPad(spec));
    return std::make_unique<PadKernel>(spec.threads, plan);
  }

  PadKernel(int threads, const PadPlan& plan) : threads_(threads), plan_(plan) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    auto* y = static_cast<char*>(outputs[0]);
    const int64_t stride = plan_.before + plan_.bytes + plan_.after;
    ZeroRows(threads_, {plan_.count, plan_.before}, y, stride);
    CopyRows(threads_, {plan_.count, plan_.bytes}, inputs[0], plan_.bytes, y + plan_.before, stride);
    ZeroRows(threads_, {plan_.count, plan_.after}, y + plan_.before + plan_.bytes, stride);
    return absl::OkStatus();
  }

 private:
  int threads_;
  PadPlan plan_;
};

class ConcatKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(ConcatPlan plan, PlanConcat(spec));
    return std::make_unique<ConcatKernel>(spec.threads, std::move(plan));
  }

  ConcatKernel(int threads, ConcatPlan plan) : threads_(threads), plan_(std::move(plan)) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    auto* y = static_cast<char*>(outputs[0]);
    for (size_t i = 0; i < inputs.size(); ++i) {
      CopyRows(threads_, {plan_.count, plan_.bytes[i]}, inputs[i], plan_.bytes[i], y, plan_.stride);
      y += plan_.bytes[i];
    }
    return absl::OkStatus();
  }

 private:
  int threads_;
  ConcatPlan plan_;
};

}  // namespace

void RegisterRows(KernelRegistry& registry) {
  registry.Register("slice", &SliceKernel::Create);
  registry.Register("pad", &PadKernel::Create);
  registry.Register("concat", &ConcatKernel::Create);
}

}  // namespace weft::layout
