// GPU kernels of the element-wise ops: those of cpu.cc, for its types (f32, bf16 and
// f16 stored so, computed in float; one type an op).
#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/broadcast.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/kernel.h"
#include "ops/abi/match_spec.h"
#include "ops/elementwise/cuda_arguments.h"
#include "ops/families.h"

namespace weft {
namespace {

using namespace elementwise;  // the arguments

constexpr const char* kModule = "elementwise";

// Threads for `n` elements of which each does `per`.
GpuGrid GridOf(const KernelSpec& spec, int64_t n, int64_t per) {
  return LoopGrid(*spec.gpu, (n + per - 1) / per, kThreads);
}

int64_t PackOf(DType type) { return static_cast<int64_t>(16 / SizeOf(type)); }

absl::Status ExpectFloat(const TensorSpec& tensor) {
  if (WidensToFloat(tensor.dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected f32, bf16 or f16, got ", tensor.ToString()));
}

bool IsInteger(DType type) { return type == DType::kI32 || type == DType::kI64; }

// All operands have the type of the first, which is a floating-point one; or an integer one, where those are allowed.
absl::Status ExpectOneType(const KernelSpec& spec, bool integers = false) {
  if (spec.inputs.empty()) return absl::InvalidArgumentError("expected one or more inputs, got none");
  for (const auto* list : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& tensor : *list) {
      if (tensor.dtype == spec.inputs[0].dtype) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("expected ", NameOf(spec.inputs[0].dtype), ", got ", tensor.ToString()));
    }
  }
  if (integers && IsInteger(spec.inputs[0].dtype)) return absl::OkStatus();
  return ExpectFloat(spec.inputs[0]);
}

// An output of the inputs' dims.
absl::StatusOr<int64_t> OneShape(const KernelSpec& spec) {
  std::string rule;
  for (size_t i = 0; i < spec.inputs.size(); ++i) rule += i == 0 ? "any:." : ",any:.";
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, (rule + "->any:.").c_str()));
  return extents.rows();
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeUnary(const KernelSpec& spec, const std::string& name,
                                                  UnaryArguments arguments) {
  const int64_t per = std::min(PackOf(spec.inputs[0].dtype), PackOf(spec.outputs[0].dtype));
  WEFT_ASSIGN_OR_RETURN(arguments.n, OneShape(spec));
  return MakeGpuLaunch(spec, kModule, name, GridOf(spec, arguments.n, per), arguments,
                       [](UnaryArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.x = inputs[0];
                         arguments.y = outputs[0];
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeFloatUnary(const KernelSpec& spec, UnaryArguments arguments) {
  WEFT_RETURN_IF_ERROR(OneShape(spec).status());
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 1, 1));
  WEFT_RETURN_IF_ERROR(ExpectOneType(spec));
  return MakeUnary(spec, absl::StrCat(spec.name, "_", NameOf(spec.inputs[0].dtype)), arguments);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateUnary(const KernelSpec& spec) { return MakeFloatUnary(spec, {}); }

// The attribute that is the kernel's number.
constexpr std::pair<const char*, const char*> kNumbers[] = {
    {"scale", "factor"}, {"add_scalar", "addend"}, {"power", "exponent"}};

absl::StatusOr<std::unique_ptr<Kernel>> CreateWithNumber(const KernelSpec& spec) {
  const auto* const it =
      std::find_if(std::begin(kNumbers), std::end(kNumbers), [&](auto& row) { return row.first == spec.name; });
  WEFT_ASSIGN_OR_RETURN(double number, spec.attributes.Float(it->second));
  return MakeFloatUnary(spec, {.number = static_cast<float>(number)});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateClamp(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(double min, FloatAttribute(spec, "min", -INFINITY));
  WEFT_ASSIGN_OR_RETURN(double max, FloatAttribute(spec, "max", INFINITY));
  return MakeFloatUnary(spec, {.number = static_cast<float>(min), .other = static_cast<float>(max)});
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateCast(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 1, 1));
  for (const TensorSpec* tensor : {&spec.inputs[0], &spec.outputs[0]}) {
    if (WidensToFloat(tensor->dtype) || IsInteger(tensor->dtype) || tensor->dtype == DType::kU8) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("expected f32, bf16, f16, i32, i64 or u8, got ", tensor->ToString()));
  }
  return MakeUnary(spec, absl::StrCat("cast_", NameOf(spec.inputs[0].dtype), "_", NameOf(spec.outputs[0].dtype)), {});
}

// Copies what a plan says of dims; kUnimplemented if they are too many.
template <typename Plan, typename Arguments>
absl::Status SetDims(const Plan& plan, Arguments& arguments) {
  const auto dims = plan.dims();
  if (dims.size() > kMaxDims) {
    return absl::UnimplementedError(absl::StrCat("expected at most ", kMaxDims, " merged dims, got ", dims.size()));
  }
  arguments.dims = static_cast<int32_t>(dims.size());
  arguments.n = plan.elements();
  for (size_t d = 0; d < dims.size(); ++d) arguments.extent[d] = dims[d].extent;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateBinary(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "any:*,any:*->any:*").status());
  WEFT_RETURN_IF_ERROR(ExpectOneType(spec, /*integers=*/spec.name != "div"));
  WEFT_ASSIGN_OR_RETURN(auto plan, BroadcastPlan<2>::Create({&spec.inputs[0], &spec.inputs[1]}, spec.outputs[0]));
  if (plan.repeats_all()) {
    return absl::InvalidArgumentError(absl::StrCat("output 0: expected the extents of the inputs, got ",
                                                   spec.outputs[0].ToString(), " of ", spec.inputs[0].ToString(),
                                                   " and ", spec.inputs[1].ToString()));
  }
  BinaryArguments arguments = {};
  WEFT_RETURN_IF_ERROR(SetDims(plan, arguments));
  const auto dims = plan.dims();
  for (size_t d = 0; d < dims.size(); ++d) {
    for (int o : {0, 1}) arguments.stride[d][o] = dims[d].stride[o];
  }
  const int64_t pack = PackOf(spec.inputs[0].dtype);
  arguments.packed = dims.size() == 1 || dims[0].extent % pack == 0;
  return MakeGpuLaunch(spec, kModule, absl::StrCat(spec.name, "_", NameOf(spec.inputs[0].dtype)),
                       GridOf(spec, arguments.n, arguments.packed ? pack : 1), arguments,
                       [](BinaryArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.a = inputs[0];
                         arguments.b = inputs[1];
                         arguments.y = outputs[0];
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateAddN(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(ExpectOneType(spec));
  WEFT_ASSIGN_OR_RETURN(int64_t n, OneShape(spec));
  if (spec.inputs.size() > kMaxTerms) {
    return absl::UnimplementedError(absl::StrCat("expected at most ", kMaxTerms, " inputs, got ", spec.inputs.size()));
  }
  const DType type = spec.inputs[0].dtype;
  const AddNArguments arguments = {.n = n, .terms = static_cast<int32_t>(spec.inputs.size())};
  return MakeGpuLaunch(spec, kModule, absl::StrCat("add_n_", NameOf(type)), GridOf(spec, n, PackOf(type)), arguments,
                       [](AddNArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         std::copy(inputs.begin(), inputs.end(), arguments.x);
                         arguments.y = outputs[0];
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateBroadcastTo(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(MatchSpec(spec, "any:*->any:*").status());
  const DType type = spec.inputs[0].dtype;
  if (spec.outputs[0].dtype != type) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected ", NameOf(type), ", got ", spec.outputs[0].ToString()));
  }
  WEFT_ASSIGN_OR_RETURN(auto plan, BroadcastPlan<1>::Create({&spec.inputs[0]}, spec.outputs[0]));
  BroadcastArguments arguments = {};
  WEFT_RETURN_IF_ERROR(SetDims(plan, arguments));
  const auto dims = plan.dims();
  for (size_t d = 0; d < dims.size(); ++d) arguments.stride[d] = dims[d].stride[0];
  return MakeGpuLaunch(spec, kModule, absl::StrCat("broadcast_to_", SizeOf(type)), GridOf(spec, arguments.n, 1),
                       arguments,
                       [](BroadcastArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.x = inputs[0];
                         arguments.y = outputs[0];
                       });
}

}  // namespace

void RegisterElementwiseCudaKernels(KernelRegistry& registry) {
  for (const char* name :
       {"neg", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "square", "abs", "sign", "sin", "cos"}) {
    registry.Register(name, &CreateUnary);
  }
  for (const auto& [name, attribute] : kNumbers) registry.Register(name, &CreateWithNumber);
  registry.Register("clamp", &CreateClamp);
  for (const char* name : {"add", "sub", "mul", "div", "maximum", "minimum"}) {
    registry.Register(name, &CreateBinary);
  }
  registry.Register("add_n", &CreateAddN);
  registry.Register("cast", &CreateCast);
  registry.Register("broadcast_to", &CreateBroadcastTo);
}

}  // namespace weft
