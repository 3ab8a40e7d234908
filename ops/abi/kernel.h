// The contract between the runtime and a kernel.
//
// A kernel is created once, when a plan is loaded, from everything that is
// known then: local shapes, tile origins, attributes, the number of threads. It
// may prepare (create a oneDNN primitive, allocate its scratch) and refuse.
// Run() is called once an act, with raw addresses: it does not allocate, look
// up or lock.
#ifndef WEFT_OPS_ABI_KERNEL_H_
#define WEFT_OPS_ABI_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/abi/attributes.h"
#include "ops/abi/gpu.h"
#include "ops/abi/status_macros.h"
#include "ops/abi/step_values.h"
#include "ops/abi/tensor_spec.h"
#include "ops/abi/workspace.h"

namespace weft {

// What a kernel is made for. `inputs` and `outputs` are in the order of the
// op's operands and results; an operand that is updated in place stands in
// both, with one address.
struct KernelSpec {
  std::string name;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  Attributes attributes;
  std::vector<int64_t> coordinates;  // of the rank in its mesh, one an axis
  int threads = 1;                   // how many threads Run() may use, the caller's included
  // Scratch memory shared by kernels that never run at the same time, such as those of one stream;
  // null: the kernel has its own.
  std::shared_ptr<Workspace> workspace;
  // Where the kernel will run, its workspace there, in the same sense, and the numbers that change
  // from step to step; null on the host.
  Gpu* gpu = nullptr;
  std::shared_ptr<GpuWorkspace> gpu_workspace;
  std::shared_ptr<GpuStepValues> gpu_step_values;
};

// What changes from act to act beside the data.
struct RunContext {
  // Training step, from 0; a resumed run goes on counting. kNoStep for kernels of a GPU, whose
  // launches may be repeated in other steps: they take it from GpuStepValues.
  static constexpr int64_t kNoStep = -1;
  int64_t step = 0;
  int64_t micro_batch = 0;  // within the step
  uint64_t seed = 0;        // of the run; random kernels add their own `seed` attribute
  void* stream = nullptr;   // a device's stream handle; null on the host
};

class Kernel {
 public:
  virtual ~Kernel() = default;

  // Reads `inputs`, writes `outputs` completely; addresses are aligned to 64
  // bytes and valid for the bytes of their spec. Called by one thread at a
  // time. An error (a token outside the vocabulary) ends the run: the message
  // says what was expected and found; the runtime adds rank, actor and act.
  virtual absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                           absl::Span<void* const> outputs) = 0;
};

using KernelFactory = absl::StatusOr<std::unique_ptr<Kernel>> (*)(const KernelSpec& spec);

}  // namespace weft

#endif  // WEFT_OPS_ABI_KERNEL_H_
