// GPU kernels of the window family, for the types of the CPU's.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/families.h"
#include "ops/window/cuda_arguments.h"
#include "ops/window/problem.h"

namespace weft {
namespace {

using window::kLanes;
using window::kTaps;
using window::kThreads;
using window::SumPartsArguments;
using window::WeightGradArguments;
using window::WindowArguments;
using window::Windows;

// Words of as many bytes as an element of `inner` of them has in common.
absl::StatusOr<std::unique_ptr<Kernel>> CreateUnfold(const KernelSpec& spec) {
  WindowArguments arguments = {};
  WEFT_ASSIGN_OR_RETURN(arguments.windows, window::UnfoldWindows(spec));
  const auto element = static_cast<int64_t>(SizeOf(spec.inputs[0].dtype));
  const int64_t bytes = arguments.windows.inner * element, word = bytes % 16 == 0 ? 16 : element;
  arguments.windows.inner = bytes / word;
  arguments.n = static_cast<int64_t>(spec.outputs[0].bytes()) / word;
  return MakeGpuLaunch(spec, "window", absl::StrCat("unfold_", word), LoopGrid(*spec.gpu, arguments.n, kThreads),
                       arguments, [](WindowArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
                         a.x = in[0];
                         a.out = out[0];
                       });
}

// A launch of `name` whose threads have a pack of the result each; `bind` puts the inputs in their places.
template <typename Bind>
absl::StatusOr<std::unique_ptr<Kernel>> CreateByPacks(const KernelSpec& spec, const char* name,
                                                      absl::StatusOr<Windows> windows, Bind bind) {
  if (!windows.ok()) return windows.status();
  const TensorSpec& result = spec.outputs[0];
  const auto most = static_cast<int64_t>(16 / SizeOf(result.dtype)), pack = windows->inner % most == 0 ? most : 1;
  const WindowArguments arguments = {.windows = *windows, .n = result.elements() / pack};
  return MakeGpuLaunch(spec, "window", absl::StrCat(name, "_", NameOf(result.dtype), "_", pack),
                       LoopGrid(*spec.gpu, arguments.n, kThreads), arguments,
                       [bind](WindowArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
                         bind(a, in);
                         a.out = out[0];
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateFold(const KernelSpec& spec) {
  return CreateByPacks(spec, "fold", window::FoldWindows(spec), [](WindowArguments& a, GpuInputs in) { a.y = in[0]; });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateMaxPool(const KernelSpec& spec) {
  return CreateByPacks(spec, "max_pool", window::MaxPoolWindows(spec),
                       [](WindowArguments& a, GpuInputs in) { a.x = in[0]; });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateMaxPoolGrad(const KernelSpec& spec) {
  return CreateByPacks(spec, "max_pool_grad", window::MaxPoolGradWindows(spec), [](WindowArguments& a, GpuInputs in) {
    a.dy = in[0];
    a.x = in[1];
    a.y = in[2];
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConv(const KernelSpec& spec) {
  return CreateByPacks(spec, "depthwise", window::DepthwiseWindows(spec), [](WindowArguments& a, GpuInputs in) {
    a.x = in[0];
    a.w = in[1];
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateDepthwiseConvGradInput(const KernelSpec& spec) {
  return CreateByPacks(spec, "depthwise_grad_input", window::DepthwiseGradInputWindows(spec),
                       [](WindowArguments& a, GpuInputs in) {
                         a.dy = in[0];
                         a.w = in[1];
                       });
}

// Two launches: sums over parts of the places, and the sum of these.
class DepthwiseGradWeightKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(Windows windows, window::DepthwiseGradWeightWindows(spec));
    WEFT_ASSIGN_OR_RETURN(
        auto weights, GpuKernel<WeightGradArguments>::Find(
                          spec.gpu, "window", absl::StrCat("depthwise_grad_weight_", NameOf(spec.inputs[0].dtype))));
    WEFT_ASSIGN_OR_RETURN(auto sum, GpuKernel<SumPartsArguments>::Find(spec.gpu, "window", "sum_parts"));
    auto made = std::make_unique<DepthwiseGradWeightKernel>(weights, sum, spec.gpu_workspace);
    WeightGradArguments& arguments = made->arguments_;
    arguments = {.windows = windows,
                 .parts = window::PartsOf(windows, kMostParts, kLeastPlaces),
                 .tap_groups = (windows.dims[2].size + kTaps - 1) / kTaps};
    made->sum_arguments_ = {.parts = arguments.parts, .n = spec.outputs[0].elements()};
    const int64_t blocks = arguments.parts * windows.dims[0].size * windows.dims[1].size * arguments.tap_groups *
                           ((windows.inner + kLanes - 1) / kLanes);
    made->grid_ = {.blocks = {static_cast<uint32_t>(blocks), 1, 1}, .threads = {kLanes, kThreads / kLanes, 1}};
    made->sum_grid_ = LoopGrid(*spec.gpu, made->sum_arguments_.n, kThreads);
    WEFT_RETURN_IF_ERROR(made->workspace_->Reserve(
        spec.gpu, static_cast<size_t>(arguments.parts * made->sum_arguments_.n) * sizeof(float)));
    return made;
  }

  DepthwiseGradWeightKernel(GpuKernel<WeightGradArguments> weights, GpuKernel<SumPartsArguments> sum,
                            std::shared_ptr<GpuWorkspace> workspace)
      : weights_(weights), sum_(sum), workspace_(std::move(workspace)) {}

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    if (sum_arguments_.n == 0) return absl::OkStatus();
    WeightGradArguments arguments = arguments_;
    arguments.x = inputs[0];
    arguments.dy = inputs[1];
    arguments.partial = workspace_->data<float>();
    WEFT_RETURN_IF_ERROR(weights_.Launch(grid_, arguments, context.stream));
    SumPartsArguments sum = sum_arguments_;
    sum.partial = workspace_->data<float>();
    sum.out = static_cast<float*>(outputs[0]);
    return sum_.Launch(sum_grid_, sum, context.stream);
  }

 private:
  static constexpr int64_t kMostParts = 64;
  static constexpr int64_t kLeastPlaces = 512;

  const GpuKernel<WeightGradArguments> weights_;
  const GpuKernel<SumPartsArguments> sum_;
  const std::shared_ptr<GpuWorkspace> workspace_;  // [parts][taps][channels]
  GpuGrid grid_, sum_grid_;
  WeightGradArguments arguments_ = {};
  SumPartsArguments sum_arguments_ = {};
};

}  // namespace

void RegisterWindowCudaKernels(KernelRegistry& registry) {
  registry.Register("unfold", &CreateUnfold);
  registry.Register("fold", &CreateFold);
  registry.Register("max_pool", &CreateMaxPool);
  registry.Register("max_pool_grad", &CreateMaxPoolGrad);
  registry.Register("depthwise_conv", &CreateDepthwiseConv);
  registry.Register("depthwise_conv_grad_input", &CreateDepthwiseConvGradInput);
  registry.Register("depthwise_conv_grad_weight", &DepthwiseGradWeightKernel::Create);
}

}  // namespace weft
