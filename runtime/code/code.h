// Generated kernels, whose code comes with a plan.
#ifndef WEFT_RUNTIME_CODE_CODE_H_
#define WEFT_RUNTIME_CODE_CODE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "runtime/plan/plan.pb.h"

namespace weft::code {

// What a kernel draws: bits for a rank's tile of a tensor.
struct RandomTile {
  uint64_t seed;
  TensorSpec tile;
};

// Where a kernel's random bits of a micro-batch begin.
struct Draw {
  explicit Draw(const RandomTile& random);
  uint64_t KeyFor(const RunContext& context) const;
  int64_t FirstFor(const RunContext& context) const { return first + context.micro_batch * elements; }

  uint64_t seed;
  int64_t first, elements;  // of the tile; of the whole tensor
};

// The tensors of a kernel that is run for several at once (plan::Kernel.segments).
struct Segments {
  // kInvalidArgument for operands that are no `kernel.segments()` times as many.
  static absl::StatusOr<Segments> Of(const plan::Kernel& kernel, const KernelSpec& spec);

  size_t shared, inputs, outputs;  // inputs of all; operands of each
  std::vector<int64_t> elements;   // of a tensor, by segment
};

// The code of a plan. Immutable, hence thread-safe.
class Code {
 public:
  virtual ~Code() = default;

  // What `kernel`, a generated one, says, for the device of `spec`. It keeps the code.
  virtual absl::StatusOr<std::unique_ptr<Kernel>> Make(const plan::Kernel& kernel,
                                                       const std::vector<RandomTile>& randoms,
                                                       const KernelSpec& spec) const = 0;
};

// The code of a plan for host_code.h or gpu_code.h, as its target says. kInvalidArgument for another target.
absl::StatusOr<std::shared_ptr<const Code>> Load(const plan::Code& code);

}  // namespace weft::code

#endif  // WEFT_RUNTIME_CODE_CODE_H_
