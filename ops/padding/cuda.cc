// GPU kernel of set_padding, for the types of fill: a launch a dim that has padding, beside a copy where it is not over
// its operand.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/families.h"
#include "ops/padding/cuda_arguments.h"
#include "ops/padding/plan.h"

namespace weft {
namespace {

using padding::kThreads;
using padding::RowsArguments;

class SetPaddingKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(padding::PaddingPlan plan, padding::PaddingPlan::Create(spec));
    WEFT_ASSIGN_OR_RETURN(
        auto kernel,
        GpuKernel<RowsArguments>::Find(spec.gpu, "padding", absl::StrCat("fill_rows_", SizeOf(spec.outputs[0].dtype))));
    return std::make_unique<SetPaddingKernel>(spec, kernel, std::move(plan));
  }

  SetPaddingKernel(const KernelSpec& spec, GpuKernel<RowsArguments> kernel, padding::PaddingPlan plan)
      : gpu_(spec.gpu), bytes_(spec.outputs[0].bytes()), kernel_(kernel), plan_(std::move(plan)) {}

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    if (bytes_ > 0 && inputs[0] != outputs[0]) {
      WEFT_RETURN_IF_ERROR(gpu_->Copy(outputs[0], inputs[0], bytes_, context.stream));
    }
    for (const padding::Rows& rows : plan_.RowsOf(context.micro_batch)) {
      const RowsArguments arguments = {.y = outputs[0],
                                       .n = rows.count * rows.elements,
                                       .offset = rows.offset,
                                       .elements = rows.elements,
                                       .stride = rows.stride,
                                       .word = plan_.word()};
      WEFT_RETURN_IF_ERROR(kernel_.Launch(LoopGrid(*gpu_, arguments.n, kThreads), arguments, context.stream));
    }
    return absl::OkStatus();
  }

 private:
  Gpu* const gpu_;
  const size_t bytes_;
  const GpuKernel<RowsArguments> kernel_;
  const padding::PaddingPlan plan_;
};

}  // namespace

void RegisterPaddingCudaKernels(KernelRegistry& registry) {
  registry.Register("set_padding", &SetPaddingKernel::Create);
}

}  // namespace weft
