// An einsum with an epilogue on the host: the product, then the very kernels
// that the compiler fused, on the result while it is there.
#include "ops/einsum/cpu_epilogue.h"

#include <utility>
#include <vector>

#include "ops/abi/sequence.h"
#include "ops/families.h"

namespace weft::einsum {

absl::StatusOr<std::unique_ptr<Kernel>> CreateWithEpilogue(const KernelSpec& spec, const Epilogue& epilogue,
                                                           KernelFactory product) {
  KernelRegistry parts;
  parts.Register("einsum", product);
  RegisterActivationKernels(parts);
  RegisterElementwiseKernels(parts);
  RegisterReduceKernels(parts);
  auto sequence = std::make_unique<KernelSequence>();
  absl::Status status;
  const auto add = [&](const char* name, std::vector<WholeOperand> in, WholeOperand out, Attributes attributes = {}) {
    if (status.ok()) status = sequence->Add(parts, spec, name, std::move(in), {out}, std::move(attributes));
  };
  const Attributes tanh = {{"approximate", std::string("tanh")}};
  const WholeOperand before = Out(epilogue.keep ? 1 : 0);  // of GELU
  add("einsum", {In(0), In(1)}, before, ProductOf(spec).attributes);
  if (epilogue.add) add("add", {before, In(2)}, before);
  if (epilogue.bias) add("add", {before, In(2)}, before);
  if (epilogue.gelu) add("gelu", {before}, Out(0), tanh);
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
