// Copies and reductions between the tiles of virtual ranks on one GPU.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_GPU_MOVE_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_GPU_MOVE_H_

#include <cstdint>
#include <optional>

#include "ops/abi/gpu.h"
#include "runtime/collective/local/cuda_arguments.h"
#include "runtime/collective/spec.h"
#include "runtime/collective/tile_copy.h"

namespace weft::collective {

// One kernel, prepared for fixed places; Run() enqueues it and allocates nothing.
class GpuMove {
 public:
  // What a host's TileCopy does, for elements of `element_bytes`.
  static absl::StatusOr<GpuMove> Copy(Gpu* gpu, const TileCopy& copy, int64_t element_bytes);
  // Reduces what `copy` names in every input.
  static absl::StatusOr<GpuMove> Reduce(Gpu* gpu, const TileCopy& copy, DType dtype, Reduction reduction);
  // Reduces `count` elements from element `first` on.
  static absl::StatusOr<GpuMove> ReduceRange(Gpu* gpu, int64_t first, int64_t count, DType dtype, Reduction reduction);
  // From [outer, inner, run] to [inner, outer, run].
  static absl::StatusOr<GpuMove> Transpose(Gpu* gpu, int64_t outer, int64_t inner, int64_t run, int64_t element_bytes);

  absl::Status Run(const void* const* inputs, int input_count, void* const* outputs, int output_count,
                   void* stream) const;

 private:
  static absl::StatusOr<GpuMove> Create(Gpu* gpu, const std::string& kernel, const CombineArguments& arguments);
  GpuMove(GpuKernel<CombineArguments> kernel, GpuGrid grid, const CombineArguments& arguments)
      : kernel_(kernel), grid_(grid), arguments_(arguments) {}

  GpuKernel<CombineArguments> kernel_;
  GpuGrid grid_;
  CombineArguments arguments_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_GPU_MOVE_H_
