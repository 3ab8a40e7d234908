// Kernels that are run one after another as one: what a fused operator is on the
// host, where it is bit for bit what its parts are.
#ifndef WEFT_OPS_ABI_SEQUENCE_H_
#define WEFT_OPS_ABI_SEQUENCE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ops/abi/kernel.h"
#include "ops/abi/registry.h"

namespace weft {

// An input or an output of the whole.
struct WholeOperand {
  bool output;
  size_t index;
};
inline WholeOperand In(size_t index) { return {false, index}; }
inline WholeOperand Out(size_t index) { return {true, index}; }

// A part reads and writes what the whole does; what one part leaves in an output, a later one may read or overwrite.
class KernelSequence : public Kernel {
 public:
  // A part that is made by `parts`, for the shapes that its operands have in `whole`. Called while kernels are created.
  absl::Status Add(const KernelRegistry& parts, const KernelSpec& whole, const std::string& name,
                   std::vector<WholeOperand> inputs, std::vector<WholeOperand> outputs, Attributes attributes = {});

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override;

 private:
  struct Part {
    std::unique_ptr<Kernel> kernel;
    std::vector<WholeOperand> inputs, outputs;
    std::vector<const void*> input_addresses;  // room for those of a run
    std::vector<void*> output_addresses;
  };
  std::vector<Part> parts_;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_SEQUENCE_H_
