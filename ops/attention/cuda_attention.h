// The ways to do attention on a GPU.
#ifndef WEFT_OPS_ATTENTION_CUDA_ATTENTION_H_
#define WEFT_OPS_ATTENTION_CUDA_ATTENTION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/attention/problem.h"

namespace weft::attention {

// Makes the kernel of `spec`, an attention or attention_grad of f32, bf16 or f16 tensors (but lse).
// kUnimplemented: this way does not do it.
using CudaAttentionFactory = absl::StatusOr<std::unique_ptr<Kernel>> (*)(const KernelSpec& spec,
                                                                         const Problem& problem);

// Halves whose head size is no multiple of 8, by one of the next two ways with the next multiple.
absl::StatusOr<std::unique_ptr<Kernel>> CreatePaddedAttention(const KernelSpec& spec, const Problem& problem);

// A vendor's library, where the GPU has one that does it.
absl::StatusOr<std::unique_ptr<Kernel>> CreateLibraryAttention(const KernelSpec& spec, const Problem& problem);

// Our own kernels on matrix instructions: bf16 and f16, head sizes of whole packs up to 128.
absl::StatusOr<std::unique_ptr<Kernel>> CreateTensorAttention(const KernelSpec& spec, const Problem& problem);

// Plain arithmetic: any type, alignment, and head size up to 256.
absl::StatusOr<std::unique_ptr<Kernel>> CreatePlainAttention(const KernelSpec& spec, const Problem& problem);

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_CUDA_ATTENTION_H_
