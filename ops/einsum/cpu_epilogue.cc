// An einsum with an epilogue on the host: the product, then what was fused, on the result while it is there. No plan
// for a host has one: it is what GPUs' products are compared with.
#include "ops/einsum/cpu_epilogue.h"

#include <memory>
#include <utility>
#include <vector>

#include "ops/abi/float_types.h"
#include "ops/abi/match_spec.h"
#include "ops/abi/sequence.h"
#include "ops/families.h"
#include "ops/math/vector_math.h"

namespace weft::einsum {
namespace {

// x sigmoid(2u) with u = sqrt(2 / pi) (x + 0.044715 x^3), in place or not: the tanh form of GELU.
template <typename T>
class GeluKernel : public Kernel {
 public:
  explicit GeluKernel(int64_t elements) : elements_(elements) {}

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    constexpr float kScale = 0.7978845608f, kCubic = 0.044715f;  // sqrt(2 / pi)
    const T* x = static_cast<const T*>(inputs[0]);
    T* y = static_cast<T*>(outputs[0]);
    for (int64_t i = 0; i < elements_; ++i) {
      const float at = Widen(x[i]);
      y[i] = Narrow<T>(at * Sigmoid(2.0f * kScale * (at + kCubic * at * at * at)));
    }
    return absl::OkStatus();
  }

 private:
  const int64_t elements_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateGelu(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(const Extents extents, MatchSpec(spec, "float:.->float:."));
  return MakeForFloat(extents.type(),
                      [&](auto zero) { return std::make_unique<GeluKernel<decltype(zero)>>(extents.rows()); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CreateWithEpilogue(const KernelSpec& spec, const Epilogue& epilogue,
                                                           KernelFactory product) {
  KernelRegistry parts;
  parts.Register("einsum", product);
  parts.Register("gelu", CreateGelu);
  RegisterElementwiseKernels(parts);
  RegisterReduceKernels(parts);
  auto sequence = std::make_unique<KernelSequence>();
  absl::Status status;
  const auto add = [&](const char* name, std::vector<WholeOperand> in, WholeOperand out, Attributes attributes = {}) {
    if (status.ok()) status = sequence->Add(parts, spec, name, std::move(in), {out}, std::move(attributes));
  };
  const WholeOperand before = Out(epilogue.keep ? 1 : 0);  // of GELU
  add("einsum", {In(0), In(1)}, before, ProductOf(spec).attributes);
  if (epilogue.add) add("add", {before, In(2)}, before);
  if (epilogue.bias) add("add", {before, In(2)}, before);
  if (epilogue.gelu) add("gelu", {before}, Out(0));
  if (epilogue.sums) {
    std::vector<int64_t> dims;
    const auto first = SummedTensor(spec, epilogue).rank() - spec.outputs[1].rank();
    for (int64_t d = 0; d < first; ++d) dims.push_back(d);
    add("reduce", {In(epilogue.summed)}, Out(1), {{"kind", std::string("sum")}, {"dims", dims}});
  }
  if (!status.ok()) return status;
  return sequence;
}

}  // namespace weft::einsum
