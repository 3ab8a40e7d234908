// CPU kernel of set_padding, for the types of fill. Over its operand it writes the padding alone.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "ops/abi/parallel.h"
#include "ops/families.h"
#include "ops/padding/plan.h"

namespace weft {
namespace {

constexpr int64_t kGrain = 16384;

template <typename Word>
class SetPaddingKernel : public Kernel {
 public:
  SetPaddingKernel(const KernelSpec& spec, padding::PaddingPlan plan)
      : threads_(spec.threads), elements_(spec.outputs[0].elements()), plan_(std::move(plan)) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    const auto* x = static_cast<const Word*>(inputs[0]);
    auto* y = static_cast<Word*>(outputs[0]);
    if (x != y) {
      ParallelFor(threads_, elements_, kGrain,
                  [&](int64_t begin, int64_t end) { std::copy(x + begin, x + end, y + begin); });
    }
    const auto word = static_cast<Word>(plan_.word());
    for (const padding::Rows& rows : plan_.RowsOf(context.micro_batch)) {
      for (int64_t row = 0; row < rows.count; ++row)
        std::fill_n(y + rows.offset + row * rows.stride, rows.elements, word);
    }
    return absl::OkStatus();
  }

 private:
  int threads_;
  int64_t elements_;
  padding::PaddingPlan plan_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateSetPadding(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(padding::PaddingPlan plan, padding::PaddingPlan::Create(spec));
  std::unique_ptr<Kernel> kernel;
  switch (SizeOf(spec.outputs[0].dtype)) {
    case 1:
      kernel = std::make_unique<SetPaddingKernel<uint8_t>>(spec, std::move(plan));
      break;
    case 2:
      kernel = std::make_unique<SetPaddingKernel<uint16_t>>(spec, std::move(plan));
      break;
    case 4:
      kernel = std::make_unique<SetPaddingKernel<uint32_t>>(spec, std::move(plan));
      break;
    default:
      kernel = std::make_unique<SetPaddingKernel<uint64_t>>(spec, std::move(plan));
  }
  return kernel;
}

}  // namespace

void RegisterPaddingKernels(KernelRegistry& registry) { registry.Register("set_padding", &CreateSetPadding); }

}  // namespace weft
