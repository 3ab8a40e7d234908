// GPU kernels of layer_norm, rms_norm and their gradients, for f32, bf16 and f16
// (computed in float); weights and biases have the type of the input or f32. dx may
// have the address of dy or x, y that of x.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/families.h"
#include "ops/norm/cuda_arguments.h"

namespace weft {
namespace {

using namespace norm;  // the arguments

constexpr const char* kModule = "norm";

// How a row is shared out: among `warps`, each thread holding at most `elements` of it, or 0.
struct RowShape {
  int warps, elements;
  uint32_t rows() const { return elements == 0 ? 1 : static_cast<uint32_t>(kThreads / 32 / warps); }  // of a block

  std::string KernelOf(const KernelSpec& spec, const char* name) const {
    return absl::StrCat(name, "_", NameOf(spec.outputs[0].dtype), "_", elements);
  }
  GpuGrid Grid(uint32_t blocks) const {
    return {.blocks = {blocks, 1, 1}, .threads = {static_cast<uint32_t>(warps) * 32, rows(), 1}};
  }
};

// As few warps as can hold the row, `most` elements a thread; eight with 32 where that is too little. Rows of
// packs that are not whole, or too long, are not held.
RowShape ShapeOf(int64_t width, DType type, int most) {
  const auto pack = static_cast<int64_t>(16 / SizeOf(type));
  for (int warps : {1, 2, 4, 8}) {
    for (int elements : {16, 32}) {
      const bool fits = width % pack == 0 && width <= 32 * warps * elements;
      if (fits && (elements <= most || warps == 8)) return {warps, elements};
    }
  }
  return {8, 0};
}

// What rows begin and end with: one float type; weights of it, or f32.
absl::Status CheckTypes(const KernelSpec& spec, std::initializer_list<const TensorSpec*> rows,
                        std::initializer_list<const TensorSpec*> weights) {
  const DType type = spec.outputs[0].dtype, weight = (*weights.begin())->dtype;
  for (const TensorSpec* it : rows) {
    if (it->dtype != type || !WidensToFloat(type)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected f32, bf16 or f16, all alike, got ", it->ToString(), " and ", NameOf(type)));
    }
  }
  for (const TensorSpec* it : weights) {
    if (it->dtype != weight || (weight != type && weight != DType::kF32)) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected weights of ", NameOf(type), " or f32, all alike, got ", it->ToString()));
    }
  }
  return absl::OkStatus();
}

// Operands: what the CPU kernels ask for, of any type.
template <bool kCenter>
absl::StatusOr<std::unique_ptr<Kernel>> CreateNorm(const KernelSpec& spec) {
  const bool statistics = spec.outputs.size() > 1;
  const std::string form = absl::StrCat("any:.h,any:h", kCenter ? ",any:h" : "", "->any:.h",
                                        !statistics ? ""
                                        : kCenter   ? ",.,."
                                                    : ",.");
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, form.c_str()));
  WEFT_RETURN_IF_ERROR(
      CheckTypes(spec, {&spec.inputs[0], &spec.outputs[0]}, {&spec.inputs[1], &spec.inputs[kCenter ? 2 : 1]}));
  WEFT_ASSIGN_OR_RETURN(double eps, spec.attributes.Float("eps"));
  const NormArguments arguments{.rows = extents.rows(),
                                .width = extents['h'],
                                .eps = static_cast<float>(eps),
                                .wide_weights = spec.inputs[1].dtype == DType::kF32};
  const RowShape shape = ShapeOf(arguments.width, spec.outputs[0].dtype, 32);
  const int64_t blocks = (arguments.rows + shape.rows() - 1) / shape.rows();
  return MakeGpuLaunch(spec, kModule, shape.KernelOf(spec, kCenter ? "layer_norm" : "rms_norm"),
                       shape.Grid(LoopGrid(*spec.gpu, blocks * kThreads, kThreads).blocks[0]), arguments,
                       [statistics](NormArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
                         a.x = in[0];
                         a.w = in[1];
                         if (kCenter) a.b = in[2];
                         a.y = out[0];
                         if (kCenter && statistics) a.mean = static_cast<float*>(out[1]);
                         if (statistics) a.rstd = static_cast<float*>(out.back());
                       });
}

// Two launches on one stream: the rows, then the sums of the blocks.
class NormGradKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const Extents& extents, bool center) {
    const int64_t width = extents['h'], columns = (center ? 2 : 1) * width;
    const RowShape shape = ShapeOf(width, spec.outputs[0].dtype, 16);
    const auto rows_of_block = static_cast<int64_t>(shape.rows()) * kRowsOfThread;
    const auto blocks = std::clamp<int64_t>((extents.rows() + rows_of_block - 1) / rows_of_block, 1, kMostBlocks);
    const std::string name = shape.KernelOf(spec, center ? "layer_norm_grad" : "rms_norm_grad");
    WEFT_ASSIGN_OR_RETURN(auto rows, GpuKernel<NormGradArguments>::Find(spec.gpu, kModule, name));
    const std::string sum_name = absl::StrCat("norm_sum_", NameOf(spec.outputs[1].dtype));
    WEFT_ASSIGN_OR_RETURN(auto sum, GpuKernel<NormSumArguments>::Find(spec.gpu, kModule, sum_name));
    WEFT_RETURN_IF_ERROR(spec.gpu_workspace->Reserve(spec.gpu, static_cast<size_t>(blocks * columns) * sizeof(float)));
    auto kernel = std::make_unique<NormGradKernel>(rows, sum, spec.gpu_workspace, center);
    kernel->rows_grid_ = shape.Grid(static_cast<uint32_t>(blocks));
    kernel->sum_grid_ = LoopGrid(*spec.gpu, columns, 32);
    kernel->sum_grid_.threads[1] = kThreads / 32;
    kernel->rows_arguments_ = {
        .rows = extents.rows(), .width = width, .wide_weights = spec.inputs[2].dtype == DType::kF32};
    kernel->sum_arguments_ = {.width = width, .columns = columns, .blocks = static_cast<int32_t>(blocks)};
    return kernel;
  }

  NormGradKernel(GpuKernel<NormGradArguments> rows, GpuKernel<NormSumArguments> sum,
                 std::shared_ptr<GpuWorkspace> workspace, bool center)
      : rows_(rows), sum_(sum), workspace_(std::move(workspace)), center_(center) {}

  absl::Status Run(const RunContext& context, GpuInputs in, GpuOutputs out) override {
    NormGradArguments rows = rows_arguments_;
    rows.dy = in[0];
    rows.x = in[1];
    rows.w = in[2];
    if (center_) rows.mean = static_cast<const float*>(in[3]);
    rows.rstd = static_cast<const float*>(in.back());
    rows.dx = out[0];
    rows.partial = workspace_->data<float>();
    WEFT_RETURN_IF_ERROR(rows_.Launch(rows_grid_, rows, context.stream));
    NormSumArguments sum = sum_arguments_;
    sum.partial = workspace_->data<float>();
    sum.dw = out[1];
    sum.db = center_ ? out[2] : nullptr;
    return sum_.Launch(sum_grid_, sum, context.stream);
  }

 private:
  static constexpr int64_t kRowsOfThread = 4;
  static constexpr int64_t kMostBlocks = 256;

  const GpuKernel<NormGradArguments> rows_;
  const GpuKernel<NormSumArguments> sum_;
  const std::shared_ptr<GpuWorkspace> workspace_;  // [blocks][columns]
  const bool center_;
  GpuGrid rows_grid_, sum_grid_;
  NormGradArguments rows_arguments_;
  NormSumArguments sum_arguments_;
};

template <bool kCenter>
absl::StatusOr<std::unique_ptr<Kernel>> CreateNormGrad(const KernelSpec& spec) {
  const std::string rule =
      absl::StrCat("any:.h,any:.h,any:h,.", kCenter ? ",." : "", "->any:.h,any:h", kCenter ? ",any:h" : "");
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, rule.c_str()));
  WEFT_RETURN_IF_ERROR(CheckTypes(spec, {&spec.inputs[0], &spec.inputs[1], &spec.outputs[0]},
                                  {&spec.inputs[2], &spec.outputs[1], &spec.outputs.back()}));
  return NormGradKernel::Create(spec, extents, kCenter);
}

}  // namespace

void RegisterNormCudaKernels(KernelRegistry& registry) {
  registry.Register("layer_norm", &CreateNorm<true>);
  registry.Register("layer_norm_grad", &CreateNormGrad<true>);
  registry.Register("rms_norm", &CreateNorm<false>);
  registry.Register("rms_norm_grad", &CreateNormGrad<false>);
}

}  // namespace weft
