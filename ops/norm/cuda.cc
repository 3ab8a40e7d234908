#include "ops/norm/cuda.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/norm/cuda_arguments.h"

namespace weft {
namespace {

using namespace norm;  // the arguments

constexpr const char* kModule = "norm";

// How a row is shared out: among `warps`, each thread holding at most `elements` of it, or 0.
struct RowShape {
  int warps, elements;
  uint32_t rows() const { return elements == 0 ? 1 : static_cast<uint32_t>(kThreads / 32 / warps); }  // of a block

  std::string KernelOf(const KernelSpec& spec) const {
    return absl::StrCat(spec.name, "_", NameOf(spec.outputs[0].dtype), "_", elements);
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
    if (it->dtype != type || !IsGpuFloat(type)) {
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

absl::StatusOr<std::unique_ptr<Kernel>> MakeNorm(const KernelSpec& spec, const Extents& extents, bool center) {
  absl::StatusOr<double> eps = spec.attributes.Float("eps");
  if (!eps.ok()) return eps.status();
  const NormArguments arguments{.rows = extents.rows(),
                                .width = extents['h'],
                                .eps = static_cast<float>(*eps),
                                .wide_weights = spec.inputs[1].dtype == DType::kF32};
  const RowShape shape = ShapeOf(arguments.width, spec.outputs[0].dtype, 32);
  const int64_t blocks = (arguments.rows + shape.rows() - 1) / shape.rows();
  return MakeGpuLaunch(spec, kModule, shape.KernelOf(spec),
                       shape.Grid(LoopGrid(*spec.gpu, blocks * kThreads, kThreads).blocks[0]), arguments,
                       [center, statistics = spec.outputs.size() > 1](NormArguments& a, const RunContext&, GpuInputs in,
                                                                      GpuOutputs out) {
                         a.x = in[0];
                         a.w = in[1];
                         if (center) a.b = in[2];
                         a.y = out[0];
                         if (center && statistics) a.mean = static_cast<float*>(out[1]);
                         if (statistics) a.rstd = static_cast<float*>(out.back());
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateLayerNorm(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents =
      MatchSpec(spec, spec.outputs.size() == 3 ? "any:.h,any:h,any:h->any:.h,.,." : "any:.h,any:h,any:h->any:.h");
  if (!extents.ok()) return extents.status();
  absl::Status status = CheckTypes(spec, {&spec.inputs[0]}, {&spec.inputs[1], &spec.inputs[2]});
  if (!status.ok()) return status;
  return MakeNorm(spec, *extents, /*center=*/true);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateRmsNorm(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents =
      MatchSpec(spec, spec.outputs.size() == 2 ? "any:.h,any:h->any:.h,." : "any:.h,any:h->any:.h");
  if (!extents.ok()) return extents.status();
  absl::Status status = CheckTypes(spec, {&spec.inputs[0]}, {&spec.inputs[1]});
  if (!status.ok()) return status;
  return MakeNorm(spec, *extents, /*center=*/false);
}

// Two launches on one stream: the rows, then the sums of the blocks.
class NormGradKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const Extents& extents, bool center) {
    const int64_t width = extents['h'], columns = (center ? 2 : 1) * width;
    const RowShape shape = ShapeOf(width, spec.outputs[0].dtype, 16);
    const auto rows_of_block = static_cast<int64_t>(shape.rows()) * kRowsOfThread;
    const auto blocks = std::clamp<int64_t>((extents.rows() + rows_of_block - 1) / rows_of_block, 1, kMostBlocks);
    auto rows = GpuKernel<NormGradArguments>::Find(spec.gpu, kModule, shape.KernelOf(spec));
    auto sum =
        GpuKernel<NormSumArguments>::Find(spec.gpu, kModule, absl::StrCat("norm_sum_", NameOf(spec.outputs[1].dtype)));
    if (!rows.ok()) return rows.status();
    if (!sum.ok()) return sum.status();
    absl::Status status = spec.gpu_workspace->Reserve(spec.gpu, static_cast<size_t>(blocks * columns) * sizeof(float));
    if (!status.ok()) return status;
    auto kernel = std::make_unique<NormGradKernel>(*rows, *sum, spec.gpu_workspace, center);
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
    if (absl::Status status = rows_.Launch(rows_grid_, rows, context.stream); !status.ok()) return status;
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

absl::StatusOr<std::unique_ptr<Kernel>> CreateLayerNormGrad(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents = MatchSpec(spec, "any:.h,any:.h,any:h,.,.->any:.h,any:h,any:h");
  if (!extents.ok()) return extents.status();
  absl::Status status =
      CheckTypes(spec, {&spec.inputs[0], &spec.inputs[1]}, {&spec.inputs[2], &spec.outputs[1], &spec.outputs[2]});
  if (!status.ok()) return status;
  return NormGradKernel::Create(spec, *extents, /*center=*/true);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateRmsNormGrad(const KernelSpec& spec) {
  absl::StatusOr<Extents> extents = MatchSpec(spec, "any:.h,any:.h,any:h,.->any:.h,any:h");
  if (!extents.ok()) return extents.status();
  absl::Status status = CheckTypes(spec, {&spec.inputs[0], &spec.inputs[1]}, {&spec.inputs[2], &spec.outputs[1]});
  if (!status.ok()) return status;
  return NormGradKernel::Create(spec, *extents, /*center=*/false);
}

}  // namespace

void RegisterNormCudaKernels(KernelRegistry& registry) {
  registry.Register("layer_norm", &CreateLayerNorm);
  registry.Register("layer_norm_grad", &CreateLayerNormGrad);
  registry.Register("rms_norm", &CreateRmsNorm);
  registry.Register("rms_norm_grad", &CreateRmsNormGrad);
}

}  // namespace weft
