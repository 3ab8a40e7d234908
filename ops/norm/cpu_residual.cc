// Norms fused with the residual stream on the host: the kernels that the
// compiler fused, one after another on the same memory.
#include <utility>
#include <vector>

#include "ops/abi/sequence.h"
#include "ops/families.h"
#include "ops/norm/cpu_factories.h"
#include "ops/norm/residual.h"

namespace weft::norm {
namespace {

using Operands = std::vector<WholeOperand>;

// The parts of one fused kernel, in order.
class Parts {
 public:
  Parts(const KernelSpec& spec, const char* norm, KernelFactory factory) : spec_(spec) {
    registry_.Register(norm, factory);
    RegisterDropoutKernels(registry_);
    RegisterElementwiseKernels(registry_);
  }
  void Add(const char* name, Operands inputs, Operands outputs, std::initializer_list<const char*> attributes) {
    Attributes taken;
    for (const char* attribute : attributes) {
      const auto found = spec_.attributes.values().find(attribute);
      if (found != spec_.attributes.values().end()) taken.Set(attribute, found->second);
    }
    if (!status_.ok()) return;
    status_ = sequence_->Add(registry_, spec_, name, std::move(inputs), std::move(outputs), std::move(taken));
  }
  absl::StatusOr<std::unique_ptr<Kernel>> Take() {
    if (!status_.ok()) return status_;
    return std::move(sequence_);
  }

 private:
  const KernelSpec& spec_;
  KernelRegistry registry_;
  std::unique_ptr<KernelSequence> sequence_ = std::make_unique<KernelSequence>();
  absl::Status status_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateForward(const KernelSpec& spec, bool center, KernelFactory factory) {
  const size_t weights = center ? 2 : 1, statistics = spec.outputs.size() > 2 ? weights : 0;
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 2 + weights, 2 + statistics));
  Parts parts(spec, "norm", factory);
  const bool dropout = spec.attributes.Has("rate");
  if (dropout) parts.Add("dropout", {In(1)}, {Out(0)}, {"rate", "seed"});
  parts.Add("add", {dropout ? Out(0) : In(1), In(0)}, {Out(0)}, {});
  Operands inputs = {Out(0)}, outputs;
  for (size_t i = 2; i < spec.inputs.size(); ++i) inputs.push_back(In(i));
  for (size_t o = 1; o < spec.outputs.size(); ++o) outputs.push_back(Out(o));
  parts.Add("norm", inputs, outputs, {"eps"});
  return parts.Take();
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateGradient(const KernelSpec& spec, bool center, KernelFactory factory) {
  WEFT_ASSIGN_OR_RETURN(const ResidualForm form, ResidualGradientForm(spec, center));
  Parts parts(spec, "norm_grad", factory);
  Operands inputs, outputs;
  for (size_t i = 0; i < form.norm_inputs; ++i) inputs.push_back(In(i));
  for (size_t o = 0; o < form.norm_outputs; ++o) outputs.push_back(Out(o));
  parts.Add("norm_grad", inputs, outputs, {});
  if (form.residual) parts.Add("add", {Out(0), In(form.norm_inputs)}, {Out(0)}, {});
  if (form.dropout) parts.Add("dropout", {Out(0)}, {Out(form.norm_outputs)}, {"rate", "seed"});
  return parts.Take();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateResidualLayerNorm(const KernelSpec& spec) {
  return CreateForward(spec, /*center=*/true, &CreateLayerNorm);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateResidualRmsNorm(const KernelSpec& spec) {
  return CreateForward(spec, /*center=*/false, &CreateRmsNorm);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateResidualLayerNormGrad(const KernelSpec& spec) {
  return CreateGradient(spec, /*center=*/true, &CreateLayerNormGrad);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateResidualRmsNormGrad(const KernelSpec& spec) {
  return CreateGradient(spec, /*center=*/false, &CreateRmsNormGrad);
}

}  // namespace weft::norm
