// Attention over two sets of keys from attention over each, on a GPU.
#ifndef WEFT_OPS_ATTENTION_CUDA_MERGE_H_
#define WEFT_OPS_ATTENTION_CUDA_MERGE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::attention {

// The kernel of an `attention_merge`.
absl::StatusOr<std::unique_ptr<Kernel>> CreateMerge(const KernelSpec& spec);

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CUDA_MERGE_H_
