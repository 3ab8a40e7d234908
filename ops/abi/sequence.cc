#include "ops/abi/sequence.h"

#include <utility>

namespace weft {

absl::Status KernelSequence::Add(const KernelRegistry& parts, const KernelSpec& whole, const std::string& name,
                                 std::vector<WholeOperand> inputs, std::vector<WholeOperand> outputs,
                                 Attributes attributes) {
  KernelSpec spec = whole;
  spec.name = name;
  spec.attributes = std::move(attributes);
  const auto tensors = [&](const std::vector<WholeOperand>& operands) {
    std::vector<TensorSpec> list;
    for (const WholeOperand& it : operands) list.push_back((it.output ? whole.outputs : whole.inputs)[it.index]);
    return list;
  };
  spec.inputs = tensors(inputs);
  spec.outputs = tensors(outputs);
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, parts.Create(spec));
  const size_t reads = inputs.size(), writes = outputs.size();
  parts_.push_back({std::move(kernel), std::move(inputs), std::move(outputs), std::vector<const void*>(reads),
                    std::vector<void*>(writes)});
  return absl::OkStatus();
}

absl::Status KernelSequence::Run(const RunContext& context, absl::Span<const void* const> inputs,
                                 absl::Span<void* const> outputs) {
  for (Part& part : parts_) {
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      const WholeOperand& from = part.inputs[i];
      part.input_addresses[i] = from.output ? outputs[from.index] : inputs[from.index];
    }
    for (size_t i = 0; i < part.outputs.size(); ++i) part.output_addresses[i] = outputs[part.outputs[i].index];
    WEFT_RETURN_IF_ERROR(part.kernel->Run(context, part.input_addresses, absl::MakeSpan(part.output_addresses)));
  }
  return absl::OkStatus();
}

}  // namespace weft
