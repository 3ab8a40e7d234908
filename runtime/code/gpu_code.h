// Generated kernels of NVIDIA's GPUs: PTX that comes with a plan.
#ifndef WEFT_RUNTIME_CODE_GPU_CODE_H_
#define WEFT_RUNTIME_CODE_GPU_CODE_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/code/code.h"

namespace weft::code {

// A kernel is launched as `units` blocks of kGpuThreads threads. Its argument is a struct of 64-bit words: addresses of
// inputs and then of outputs, of units times partials numbers where it sums over rows, and three for each of its random
// tensors: the key, the address of the step's number (AddStepNumber) and the first element. kSums behind its name is
// the kernel that adds up the sums of all units, with the same argument, in `groups` blocks.
//
// A kernel for several tensors at once has an argument of kGpuBatchWords words: the number of tensors, the addresses of
// shared inputs, and for each tensor the number of its first block, its elements and its addresses. As many launches
// are made as that takes.
class GpuCode : public Code {
 public:
  // kInvalidArgument for text that is cut, or lacks a kernel.
  static absl::StatusOr<std::shared_ptr<const GpuCode>> Load(const plan::Code& code);

  absl::StatusOr<std::unique_ptr<Kernel>> Make(const plan::Kernel& kernel, const std::vector<RandomTile>& randoms,
                                               const KernelSpec& spec) const override;

 private:
  GpuCode(std::string module, std::string text) : module_(std::move(module)), text_(std::move(text)) {}

  const std::string module_, text_;
};

}  // namespace weft::code

#endif  // WEFT_RUNTIME_CODE_GPU_CODE_H_
