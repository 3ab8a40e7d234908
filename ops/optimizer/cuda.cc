// GPU kernels of square_sum, clip_scale, loss_scale, learning_rate and accumulate: the formulas and types of cpu.cc.
#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/families.h"
#include "ops/optimizer/check_spec.h"
#include "ops/optimizer/cuda_arguments.h"
#include "ops/optimizer/learning_rate.h"

namespace weft {
namespace {

using namespace optimizer;  // the arguments

constexpr const char* kModule = "optimizer";
constexpr int64_t kPack = 4;

const float* In(GpuInputs inputs, int i) { return static_cast<const float*>(inputs[i]); }
float* Out(GpuOutputs outputs, int i) { return static_cast<float*>(outputs[i]); }

GpuGrid PackGrid(const KernelSpec& spec, int64_t n) { return LoopGrid(*spec.gpu, (n + kPack - 1) / kPack, kThreads); }

Stored StoredAs(DType type) {
  return type == DType::kF32 ? Stored::kF32 : type == DType::kBF16 ? Stored::kBF16 : Stored::kF16;
}

// Parts, one a block, then the sum of each tensor, and where there are several theirs: launches on one stream.
class SquareSumKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_RETURN_IF_ERROR(CheckSquares(spec));
    WEFT_ASSIGN_OR_RETURN(auto parts, GpuKernel<SquareSumArguments>::Find(spec.gpu, kModule, "square_parts"));
    WEFT_ASSIGN_OR_RETURN(auto all, GpuKernel<SquareSumArguments>::Find(spec.gpu, kModule, "square_totals"));
    WEFT_ASSIGN_OR_RETURN(auto order, GpuKernel<SumInOrderArguments>::Find(spec.gpu, kModule, "sum_in_order"));
    auto kernel = std::make_unique<SquareSumKernel>(parts, all, order, spec);
    WEFT_RETURN_IF_ERROR(spec.gpu_workspace->Reserve(
        spec.gpu, kernel->parts_count_ * sizeof(double) + spec.inputs.size() * sizeof(float)));
    return kernel;
  }

  SquareSumKernel(GpuKernel<SquareSumArguments> parts, GpuKernel<SquareSumArguments> all,
                  GpuKernel<SumInOrderArguments> order, const KernelSpec& spec)
      : parts_(parts), all_(all), order_(order), workspace_(spec.gpu_workspace) {
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      if (i % SquareSumArguments::kMost == 0) batches_.push_back({});
      SquareSumArguments& batch = batches_.back();
      const int64_t n = spec.inputs[i].elements();
      batch.each[batch.tensors++] = {nullptr, n, batch.blocks, StoredAs(spec.inputs[i].dtype)};
      const uint32_t blocks = std::min<uint32_t>(LoopGrid(*spec.gpu, n, kThreads).blocks[0], kMaxParts);
      batch.blocks += static_cast<int32_t>(blocks);
      parts_count_ += blocks;
    }
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    auto* parts = workspace_->data<double>();
    auto* const sums = inputs.size() == 1 ? Out(outputs, 0) : reinterpret_cast<float*>(parts + parts_count_);
    size_t first = 0;
    for (SquareSumArguments& batch : batches_) {
      batch.parts = parts;
      batch.sums = sums + first;
      for (int i = 0; i < batch.tensors; ++i) batch.each[i].x = inputs[first + static_cast<size_t>(i)];
      WEFT_RETURN_IF_ERROR(parts_.Launch(GridFor(int64_t{batch.blocks} * kThreads, kThreads), batch, context.stream));
      WEFT_RETURN_IF_ERROR(all_.Launch(GridFor(int64_t{batch.tensors} * kThreads, kThreads), batch, context.stream));
      parts += batch.blocks;
      first += static_cast<size_t>(batch.tensors);
    }
    if (inputs.size() == 1) return absl::OkStatus();
    return order_.Launch(GpuGrid{}, {.x = sums, .y = Out(outputs, 0), .n = static_cast<int32_t>(inputs.size())},
                         context.stream);
  }

 private:
  const GpuKernel<SquareSumArguments> parts_, all_;
  const GpuKernel<SumInOrderArguments> order_;
  const std::shared_ptr<GpuWorkspace> workspace_;
  std::vector<SquareSumArguments> batches_;
  size_t parts_count_ = 0;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateClipScale(const KernelSpec& spec) {
  const bool scaled = spec.inputs.size() == 3;
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, scaled ? ",,->," : ",->,").status());
  WEFT_ASSIGN_OR_RETURN(double clip, FloatAttribute(spec, "clip_norm", 0));
  if (!(clip >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `clip_norm`: expected 0 or more, got ", clip));
  }
  return MakeGpuLaunch(spec, kModule, "clip_scale", GpuGrid{}, ClipArguments{.clip = clip},
                       [scaled](ClipArguments& a, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         a.square_sum = In(inputs, 0);
                         a.count = In(inputs, 1);
                         if (scaled) a.loss_scale = In(inputs, 2);
                         a.scale = Out(outputs, 0);
                         a.norm = Out(outputs, 1);
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateLossScale(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, ",,,->,,,").status());
  LossScaleArguments arguments = {};
  WEFT_RETURN_IF_ERROR(ReadNumbers(spec, {{"growth_factor", &arguments.growth},
                                          {"backoff_factor", &arguments.backoff},
                                          {"growth_interval", &arguments.interval},
                                          {"min", &arguments.min},
                                          {"max", &arguments.max}}));
  WEFT_ASSIGN_OR_RETURN(arguments.run_step,
                        AddStepValue(spec, [](int64_t step) { return static_cast<double>(step) + 1; }, "step + 1"));
  return MakeGpuLaunch(spec, kModule, "loss_scale", GpuGrid{}, arguments,
                       [](LossScaleArguments& a, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         for (int i = 0; i < 4; ++i) {
                           a.in[i] = In(inputs, i);
                           a.out[i] = Out(outputs, i);
                         }
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateLearningRate(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "->").status());
  WEFT_ASSIGN_OR_RETURN(LearningRate rates, LearningRate::Create(spec));
  WEFT_ASSIGN_OR_RETURN(const double* rate, AddStepValue(spec, [rates](int64_t step) { return rates.At(step); }));
  return MakeGpuLaunch(
      spec, kModule, "learning_rate", GpuGrid{}, LearningRateArguments{.rate = rate},
      [](LearningRateArguments& a, const RunContext&, GpuInputs, GpuOutputs outputs) { a.y = Out(outputs, 0); });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateAccumulate(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, ".,.->."));
  return MakeGpuLaunch(spec, kModule, "accumulate", PackGrid(spec, extents.rows()),
                       AccumulateArguments{.n = extents.rows()},
                       [](AccumulateArguments& a, const RunContext& context, GpuInputs inputs, GpuOutputs outputs) {
                         a.x = In(inputs, 0);
                         a.acc = In(inputs, 1);
                         a.y = Out(outputs, 0);
                         a.first = context.micro_batch == 0;
                       });
}

}  // namespace

void RegisterOptimizerCudaKernels(KernelRegistry& registry) {
  registry.Register("square_sum", &SquareSumKernel::Create);
  registry.Register("clip_scale", &CreateClipScale);
  registry.Register("loss_scale", &CreateLossScale);
  registry.Register("learning_rate", &CreateLearningRate);
  registry.Register("accumulate", &CreateAccumulate);
}

}  // namespace weft
