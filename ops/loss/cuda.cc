// GPU kernels of sum_exp, pick, cross_entropy_loss and cross_entropy_grad, f32. A
// label outside the vocabulary that is not to be ignored raises an alarm.
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/families.h"
#include "ops/loss/cuda_arguments.h"

namespace weft {
namespace {

using loss::kThreads;
using loss::LossArguments;

constexpr int64_t kIgnoreByDefault = -100;

const float* In(GpuInputs inputs, int i) { return static_cast<const float*>(inputs[i]); }
const int32_t* Labels(GpuInputs inputs, int i) { return static_cast<const int32_t*>(inputs[i]); }

// Whether rows have weights, behind the operands that there are without.
bool HasWeights(const KernelSpec& spec, size_t without) { return spec.inputs.size() > without; }

// The one for logits of `type`.
std::string KernelOf(const KernelSpec& spec, DType type) { return absl::StrCat(spec.name, "_", NameOf(type)); }

// A block a row, or a thread.
GpuGrid BlockARow(const KernelSpec& spec, int64_t rows) { return LoopGrid(*spec.gpu, rows * kThreads, kThreads); }

// The rows, the tile of the vocabulary that `logits` is, and what to ignore.
absl::StatusOr<LossArguments> ArgumentsOf(const KernelSpec& spec, const Extents& extents, const TensorSpec* logits) {
  LossArguments arguments = {.rows = extents.rows(), .ignore = kIgnoreByDefault};
  if (spec.attributes.Has("ignore_index")) {
    WEFT_ASSIGN_OR_RETURN(arguments.ignore, spec.attributes.Int("ignore_index"));
  }
  if (logits == nullptr) return arguments;
  arguments.n = logits->dims.back();
  arguments.size = logits->global_dims.back();
  arguments.begin = logits->origin.back();
  WEFT_ASSIGN_OR_RETURN(double smoothing, FloatAttribute(spec, "label_smoothing", 0));
  const double all = smoothing / static_cast<double>(arguments.size);
  arguments.target_of_label = static_cast<float>(1 - smoothing + all);
  arguments.target_of_all = static_cast<float>(all);
  return arguments;
}

absl::StatusOr<std::shared_ptr<GpuAlarm>> AlarmOf(const KernelSpec& spec, const LossArguments& arguments) {
  return spec.gpu->CreateAlarm(
      [name = spec.name, size = arguments.size, ignore = arguments.ignore](const GpuAlarm& it) {
        return absl::OutOfRangeError(absl::StrCat(name, ": label of position ", it.where, ": expected 0 to ", size - 1,
                                                  " or ", ignore, " to ignore it, got ", it.value));
      });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateSumExp(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.v,.->."));
  WEFT_ASSIGN_OR_RETURN(LossArguments arguments, ArgumentsOf(spec, extents, &spec.inputs[0]));
  return MakeGpuLaunch(spec, "loss", KernelOf(spec, extents.type()), BlockARow(spec, arguments.rows), arguments,
                       [](LossArguments& a, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         a.logits = inputs[0];
                         a.max = In(inputs, 1);
                         a.y = outputs[0];
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreatePick(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "float:.v,i32:.->."));
  WEFT_ASSIGN_OR_RETURN(LossArguments arguments, ArgumentsOf(spec, extents, &spec.inputs[0]));
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<GpuAlarm> alarm, AlarmOf(spec, arguments));
  return MakeGpuLaunch(spec, "loss", KernelOf(spec, extents.type()), LoopGrid(*spec.gpu, arguments.rows, kThreads),
                       arguments, [alarm](LossArguments& a, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         a.logits = inputs[0];
                         a.labels = Labels(inputs, 1);
                         a.y = outputs[0];
                         a.alarm = alarm.get();
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateLoss(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, HasWeights(spec, 4) ? ".,.,.,i32:.,.->," : ".,.,.,i32:.->,"));
  WEFT_ASSIGN_OR_RETURN(LossArguments arguments, ArgumentsOf(spec, extents, nullptr));
  return MakeGpuLaunch(spec, "loss", "cross_entropy_loss", GridFor(1, kThreads), arguments,
                       [](LossArguments& a, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         a.max = In(inputs, 0);
                         a.sum = In(inputs, 1);
                         a.picked = In(inputs, 2);
                         a.labels = Labels(inputs, 3);
                         a.weights = inputs.size() == 5 ? In(inputs, 4) : nullptr;
                         a.y = outputs[0];
                         a.count_out = static_cast<float*>(outputs[1]);
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, HasWeights(spec, 5) ? ",float:.v,.,.,i32:.,.->float:.v"
                                                                             : ",float:.v,.,.,i32:.->float:.v"));
  WEFT_ASSIGN_OR_RETURN(LossArguments arguments, ArgumentsOf(spec, extents, &spec.inputs[1]));
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<GpuAlarm> alarm, AlarmOf(spec, arguments));
  return MakeGpuLaunch(spec, "loss", KernelOf(spec, extents.type()), BlockARow(spec, arguments.rows), arguments,
                       [alarm](LossArguments& a, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         a.scale = In(inputs, 0);
                         a.logits = inputs[1];
                         a.max = In(inputs, 2);
                         a.sum = In(inputs, 3);
                         a.labels = Labels(inputs, 4);
                         a.weights = inputs.size() == 6 ? In(inputs, 5) : nullptr;
                         a.y = outputs[0];
                         a.alarm = alarm.get();
                       });
}

}  // namespace

void RegisterLossCudaKernels(KernelRegistry& registry) {
  registry.Register("sum_exp", &CreateSumExp);
  registry.Register("pick", &CreatePick);
  registry.Register("cross_entropy_loss", &CreateLoss);
  registry.Register("cross_entropy_grad", &CreateGrad);
}

}  // namespace weft
