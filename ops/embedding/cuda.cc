// GPU kernels of embedding (rows of 2 or 4 byte elements) and embedding_grad
// (f32). An id outside the vocabulary raises an alarm.
#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/embedding/cuda_arguments.h"
#include "ops/embedding/spec.h"
#include "ops/families.h"

namespace weft {
namespace {

using namespace embedding;  // the arguments

constexpr const char* kModule = "embedding";
constexpr int64_t kWidestWord = 16;  // bytes; tensors are aligned to no less

// Raised for an id outside the vocabulary.
absl::StatusOr<std::shared_ptr<GpuAlarm>> MakeAlarm(const KernelSpec& spec, int64_t size) {
  return spec.gpu->CreateAlarm([size, name = spec.name](const GpuAlarm& it) {
    return absl::OutOfRangeError(
        absl::StrCat(name, ": id of position ", it.where, ": expected 0 to ", size - 1, ", got ", it.value));
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
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<GpuAlarm> alarm, MakeAlarm(spec, table.global_dims[0]));
  const int64_t row_bytes = extents['h'] * static_cast<int64_t>(bytes);
  const int64_t word = row_bytes % kWidestWord == 0 ? kWidestWord : static_cast<int64_t>(bytes);
  const EmbeddingArguments arguments{.positions = extents.rows(),
                                     .width = row_bytes / word,
                                     .size = table.global_dims[0],
                                     .begin = table.origin[0],
                                     .count = extents['v'],
                                     .alarm = alarm.get()};
  return MakeGpuLaunch(spec, kModule, absl::StrCat("embedding_", word),
                       LoopGrid(*spec.gpu, arguments.positions * arguments.width, kThreads), arguments,
                       [alarm](EmbeddingArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.ids = static_cast<const int32_t*>(inputs[0]);
                         arguments.x = inputs[1];
                         arguments.y = outputs[0];
                       });
}

int64_t ChunksOf(const EmbeddingArguments& of) { return (of.positions + kChunk - 1) / kChunk; }

// Sorts the positions by row, fills the table with zeros, and sums the rows that have positions.
class EmbeddingGradKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec) {
    WEFT_ASSIGN_OR_RETURN(const GradSpec grad, ParseGrad(spec));
    const Extents& extents = grad.extents;
    const TensorSpec& table = spec.outputs[0];
    if (extents.rows() >= int64_t{1} << 31) {
      return absl::UnimplementedError(absl::StrCat("expected fewer than 2^31 positions, got ", extents.rows()));
    }
    WEFT_ASSIGN_OR_RETURN(auto alarm, MakeAlarm(spec, grad.size));
    WEFT_ASSIGN_OR_RETURN(auto sort, GpuKernel<SortArguments>::Find(spec.gpu, kModule, "embedding_sort"));
    WEFT_ASSIGN_OR_RETURN(auto merge, GpuKernel<MergeArguments>::Find(spec.gpu, kModule, "embedding_merge"));
    WEFT_ASSIGN_OR_RETURN(auto sum, GpuKernel<SumArguments>::Find(
                                        spec.gpu, kModule, absl::StrCat("embedding_grad_", NameOf(extents.type()))));
    const EmbeddingArguments of{.positions = extents.rows(),
                                .width = extents['h'],
                                .size = grad.size,
                                .begin = table.origin[0],
                                .count = extents['v'],
                                .alarm = alarm.get()};
    WEFT_ASSIGN_OR_RETURN(auto parts, GpuKernel<SumArguments>::Find(spec.gpu, kModule, "embedding_grad_parts"));
    const int64_t bytes = 2 * of.positions * static_cast<int64_t>(sizeof(Key)) +
                          2 * ChunksOf(of) * of.width * static_cast<int64_t>(sizeof(double));
    WEFT_RETURN_IF_ERROR(spec.gpu_workspace->Reserve(spec.gpu, std::max<size_t>(1, static_cast<size_t>(bytes))));
    return std::unique_ptr<Kernel>(new EmbeddingGradKernel(grad.into, spec.gpu, sort, merge, sum, parts, of,
                                                           std::move(alarm), spec.gpu_workspace));
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    const auto bytes = static_cast<size_t>(of_.count * of_.width) * sizeof(float);
    const bool adds = Adds(into_, context);
    if (!adds) {
      WEFT_RETURN_IF_ERROR(gpu_->Fill(outputs[0], 0, bytes, context.stream));
    } else if (inputs[2] != outputs[0]) {
      WEFT_RETURN_IF_ERROR(gpu_->Copy(outputs[0], inputs[2], bytes, context.stream));
    }
    if (of_.positions == 0) return absl::OkStatus();
    Key *keys = workspace_->data<Key>(), *other = keys + of_.positions;
    SortArguments sort = {.of = of_, .keys = keys};
    sort.of.ids = static_cast<const int32_t*>(inputs[0]);
    GpuGrid grid = GridFor(of_.positions, kSortedAtOnce);
    grid.threads[0] = kThreads;
    WEFT_RETURN_IF_ERROR(sort_.Launch(grid, sort, context.stream));
    for (int log_run = std::countr_zero(unsigned{kSortedAtOnce}); int64_t{1} << log_run < of_.positions; ++log_run) {
      const MergeArguments merge = {.from = keys, .to = other, .count = of_.positions, .log_run = log_run};
      WEFT_RETURN_IF_ERROR(merge_.Launch(LoopGrid(*gpu_, of_.positions, kThreads), merge, context.stream));
      std::swap(keys, other);
    }
    GpuGrid rows = GridFor((of_.width + kColumns - 1) / kColumns, kSumThreads);
    rows.blocks[1] = rows.blocks[0];
    rows.blocks[0] = static_cast<uint32_t>(ChunksOf(of_));
    const SumArguments sums = {.keys = keys,
                               .x = inputs[1],
                               .y = static_cast<float*>(outputs[0]),
                               .parts = reinterpret_cast<double*>(workspace_->data<Key>() + 2 * of_.positions),
                               .positions = of_.positions,
                               .width = of_.width,
                               .adds = adds};
    WEFT_RETURN_IF_ERROR(sum_.Launch(rows, sums, context.stream));
    return parts_.Launch(rows, sums, context.stream);
  }

 private:
  EmbeddingGradKernel(RowsInto into, Gpu* gpu, GpuKernel<SortArguments> sort, GpuKernel<MergeArguments> merge,
                      GpuKernel<SumArguments> sum, GpuKernel<SumArguments> parts, const EmbeddingArguments& of,
                      std::shared_ptr<GpuAlarm> alarm, std::shared_ptr<GpuWorkspace> workspace)
      : into_(into),
        gpu_(gpu),
        sort_(sort),
        merge_(merge),
        sum_(sum),
        parts_(parts),
        of_(of),
        alarm_(std::move(alarm)),
        workspace_(std::move(workspace)) {}

  const RowsInto into_;
  Gpu* const gpu_;
  const GpuKernel<SortArguments> sort_;
  const GpuKernel<MergeArguments> merge_;
  const GpuKernel<SumArguments> sum_, parts_;
  const EmbeddingArguments of_;  // without addresses
  const std::shared_ptr<GpuAlarm> alarm_;
  const std::shared_ptr<GpuWorkspace> workspace_;  // the keys, twice, and parts of sums
};

}  // namespace

void RegisterEmbeddingCudaKernels(KernelRegistry& registry) {
  registry.Register("embedding", &CreateEmbedding);
  registry.Register("embedding_grad", &EmbeddingGradKernel::Create);
  registry.Register("accumulate_embedding_grad", &EmbeddingGradKernel::Create);
}

}  // namespace weft
