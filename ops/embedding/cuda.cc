// GPU kernels of embedding (rows of 2 or 4 byte elements) and embedding_grad
// (f32). An id outside the vocabulary raises an alarm.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/embedding/cuda_arguments.h"
#include "ops/families.h"

namespace weft {
namespace {

using embedding::EmbeddingArguments;
using embedding::kThreads;

absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec, const std::string& name, const GpuGrid& grid,
                                             EmbeddingArguments arguments) {
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<GpuAlarm> alarm,
                        spec.gpu->CreateAlarm([size = arguments.size, name = spec.name](const GpuAlarm& it) {
                          return absl::OutOfRangeError(absl::StrCat(name, ": id of position ", it.where,
                                                                    ": expected 0 to ", size - 1, ", got ", it.value));
                        }));
  arguments.alarm = alarm.get();
  return MakeGpuLaunch(spec, "embedding", name, grid, arguments,
                       [alarm](EmbeddingArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.ids = static_cast<const int32_t*>(inputs[0]);
                         arguments.x = inputs[1];
                         arguments.y = outputs[0];
                       });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateEmbedding(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "i32:.,any:vh->any:.h"));
  const TensorSpec& table = spec.inputs[1];
  const size_t bytes = SizeOf(table.dtype);
  if (table.dtype != spec.outputs[0].dtype || (bytes != 2 && bytes != 4)) {
    return absl::InvalidArgumentError(absl::StrCat("expected elements of 2 or 4 bytes of one type, got ",
                                                   table.ToString(), " and ", spec.outputs[0].ToString()));
  }
  const EmbeddingArguments arguments{.positions = extents.rows(),
                                     .width = extents['h'],
                                     .size = table.global_dims[0],
                                     .begin = table.origin[0],
                                     .count = extents['v']};
  return Make(spec, absl::StrCat("embedding_", bytes), LoopGrid(*spec.gpu, spec.outputs[0].elements(), kThreads),
              arguments);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateEmbeddingGrad(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "i32:.,float:.h->vh"));
  const TensorSpec& table = spec.outputs[0];
  WEFT_ASSIGN_OR_RETURN(int64_t size, spec.attributes.Int("vocab"));
  if (size != table.global_dims[0]) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected a tile of ", size, " rows, got ", table.ToString()));
  }
  const EmbeddingArguments arguments{.positions = extents.rows(),
                                     .width = extents['h'],
                                     .size = size,
                                     .begin = table.origin[0],
                                     .count = extents['v']};
  GpuGrid grid = LoopGrid(*spec.gpu, std::max<int64_t>(1, arguments.count) * kThreads, kThreads);  // a block a row
  grid.blocks[1] = std::max(1u, GridFor(arguments.width, kThreads).blocks[0]);
  return Make(spec, absl::StrCat("embedding_grad_", NameOf(extents.type())), grid, arguments);
}

}  // namespace

void RegisterEmbeddingCudaKernels(KernelRegistry& registry) {
  registry.Register("embedding", &CreateEmbedding);
  registry.Register("embedding_grad", &CreateEmbeddingGrad);
}

}  // namespace weft
