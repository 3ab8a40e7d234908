// GPU kernels of fill, iota and constant, for the types of cpu.cc. The numbers of a constant are arguments of its
// launches, a few thousand bytes each.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/constant/cuda_arguments.h"
#include "ops/constant/known.h"
#include "ops/families.h"

namespace weft {
namespace {

using constant::ConstantArguments;
using constant::FillArguments;
using constant::IotaArguments;
using constant::kMostBytes;
using constant::kThreads;

template <typename Arguments>
absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec, const std::string& name, Arguments arguments) {
  arguments.n = spec.outputs[0].elements();
  return MakeGpuLaunch(
      spec, "constant", name, LoopGrid(*spec.gpu, arguments.n, kThreads), arguments,
      [](Arguments& arguments, const RunContext&, GpuInputs, GpuOutputs outputs) { arguments.y = outputs[0]; });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateFill(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(uint64_t word, constant::FilledElement(spec));
  return Make(spec, absl::StrCat("fill_", SizeOf(spec.outputs[0].dtype)), FillArguments{.word = word});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateIota(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(constant::Iota plan, constant::PlanIota(spec));
  return Make(spec, absl::StrCat("iota_", NameOf(spec.outputs[0].dtype)),
              IotaArguments{.extent = plan.extent, .inner = plan.inner, .begin = plan.begin});
}

class ConstantKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, constant::TileOf(spec));
    WEFT_ASSIGN_OR_RETURN(auto kernel, GpuKernel<ConstantArguments>::Find(spec.gpu, "constant", "constant"));
    return std::make_unique<ConstantKernel>(kernel, std::move(bytes));
  }

  ConstantKernel(GpuKernel<ConstantArguments> kernel, std::vector<uint8_t> bytes)
      : kernel_(kernel), bytes_(std::move(bytes)) {}

  absl::Status Run(const RunContext& context, GpuInputs, GpuOutputs outputs) override {
    ConstantArguments arguments = {.y = static_cast<uint8_t*>(outputs[0])};
    const auto size = static_cast<int64_t>(bytes_.size());
    for (arguments.offset = 0; arguments.offset < size; arguments.offset += kMostBytes) {
      arguments.count = static_cast<int32_t>(std::min<int64_t>(kMostBytes, size - arguments.offset));
      std::copy_n(bytes_.data() + arguments.offset, arguments.count, arguments.bytes);
      WEFT_RETURN_IF_ERROR(kernel_.Launch(GridFor(arguments.count, kThreads), arguments, context.stream));
    }
    return absl::OkStatus();
  }

 private:
  const GpuKernel<ConstantArguments> kernel_;
  const std::vector<uint8_t> bytes_;
};

}  // namespace

void RegisterConstantCudaKernels(KernelRegistry& registry) {
  registry.Register("fill", &CreateFill);
  registry.Register("iota", &CreateIota);
  registry.Register("constant", &ConstantKernel::Create);
}

}  // namespace weft
