// GPU kernels of comparisons, logical ops and select, for the types of cpu.cc.
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "absl/strings/str_cat.h"
#include "ops/abi/broadcast.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"
#include "ops/families.h"
#include "ops/logic/cuda_arguments.h"

namespace weft {
namespace {

using logic::kMaxDims;
using logic::kThreads;
using logic::LogicArguments;
using logic::Test;

template <int N>
absl::StatusOr<LogicArguments> ArgumentsOf(const KernelSpec& spec, const std::array<const TensorSpec*, N>& operands) {
  WEFT_ASSIGN_OR_RETURN(auto plan, BroadcastPlan<N>::Create(operands, spec.outputs[0]));
  if (plan.repeats_all()) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected the extents of the inputs, got ", spec.outputs[0].ToString()));
  }
  const auto dims = plan.dims();
  if (dims.size() > kMaxDims) {
    return absl::UnimplementedError(absl::StrCat("expected at most ", kMaxDims, " merged dims, got ", dims.size()));
  }
  LogicArguments arguments = {.n = plan.elements(), .dims = static_cast<int32_t>(dims.size())};
  for (size_t d = 0; d < dims.size(); ++d) {
    arguments.extent[d] = dims[d].extent;
    for (int o = 0; o < N; ++o) arguments.stride[d][o] = dims[d].stride[o];
  }
  return arguments;
}

// The last operand stands for those that are missing.
absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec, const std::string& name,
                                             const LogicArguments& arguments) {
  return MakeGpuLaunch(spec, "logic", name, LoopGrid(*spec.gpu, arguments.n, kThreads), arguments,
                       [](LogicArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         for (size_t o = 0; o < std::size(arguments.operand); ++o) {
                           arguments.operand[o] = inputs[std::min(o, inputs.size() - 1)];
                         }
                         arguments.y = outputs[0];
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeTest(const KernelSpec& spec, Test test) {
  const bool one = spec.inputs.size() == 1;
  WEFT_ASSIGN_OR_RETURN(LogicArguments arguments, ArgumentsOf<2>(spec, {&spec.inputs[0], &spec.inputs[one ? 0 : 1]}));
  arguments.test = test;
  return Make(spec, absl::StrCat("compare_", NameOf(spec.inputs[0].dtype), "_", NameOf(spec.outputs[0].dtype)),
              arguments);
}

template <Test kTest>
absl::StatusOr<std::unique_ptr<Kernel>> CreateComparison(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "any:*,any:*->any:*").status());
  const DType type = spec.inputs[0].dtype;
  if (type == DType::kF64 || type == DType::kInvalid) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 0: expected f32, bf16, f16, i32, i64 or u8, got ", spec.inputs[0].ToString()));
  }
  if (spec.inputs[1].dtype != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 1: expected ", NameOf(type), ", got ", spec.inputs[1].ToString()));
  }
  if (spec.outputs[0].dtype != type && spec.outputs[0].dtype != DType::kU8) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected u8 or ", NameOf(type), ", got ", spec.outputs[0].ToString()));
  }
  return MakeTest(spec, kTest);
}

template <Test kTest>
absl::StatusOr<std::unique_ptr<Kernel>> CreateLogical(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "u8:*,u8:*->u8:*").status());
  return MakeTest(spec, kTest);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateNot(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "u8:.->u8:.").status());
  return MakeTest(spec, Test::kNeither);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateSelect(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "u8:*,any:*,any:*->any:*").status());
  const DType type = spec.outputs[0].dtype;
  for (int i : {1, 2}) {
    if (spec.inputs[i].dtype != type) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, ": expected ", NameOf(type), ", got ", spec.inputs[i].ToString()));
    }
  }
  WEFT_ASSIGN_OR_RETURN(LogicArguments arguments,
                        ArgumentsOf<3>(spec, {&spec.inputs[0], &spec.inputs[1], &spec.inputs[2]}));
  return Make(spec, absl::StrCat("select_", SizeOf(type)), arguments);
}

}  // namespace

void RegisterLogicCudaKernels(KernelRegistry& registry) {
  registry.Register("greater", &CreateComparison<Test::kGreater>);
  registry.Register("greater_equal", &CreateComparison<Test::kGreaterEqual>);
  registry.Register("less", &CreateComparison<Test::kLess>);
  registry.Register("less_equal", &CreateComparison<Test::kLessEqual>);
  registry.Register("equal", &CreateComparison<Test::kEqual>);
  registry.Register("not_equal", &CreateComparison<Test::kNotEqual>);
  registry.Register("logical_and", &CreateLogical<Test::kAnd>);
  registry.Register("logical_or", &CreateLogical<Test::kOr>);
  registry.Register("logical_not", &CreateNot);
  registry.Register("select", &CreateSelect);
}

}  // namespace weft
