#include "runtime/collective/local/gpu_move.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::collective {
namespace {

// The places of a copy in elements; kUnimplemented if it has too many levels.
absl::StatusOr<CombineArguments> ArgumentsOf(const TileCopy& copy, int64_t element_bytes) {
  const auto& levels = copy.levels();
  if (levels.size() > kMaxLevels) {
    return absl::UnimplementedError(
        absl::StrCat("tile: expected at most ", kMaxLevels, " dims that are cut, got ", levels.size()));
  }
  CombineArguments arguments = {};
  arguments.levels = static_cast<int32_t>(levels.size());
  arguments.run = copy.run_bytes() / element_bytes;
  arguments.n = arguments.run;
  arguments.from = copy.from_offset() / element_bytes;
  arguments.to = copy.to_offset() / element_bytes;
  for (size_t l = 0; l < levels.size(); ++l) {
    const auto& level = levels[levels.size() - 1 - l];  // innermost first
    arguments.count[l] = level.count;
    arguments.from_step[l] = level.from_stride / element_bytes;
    arguments.to_step[l] = level.to_stride / element_bytes;
    arguments.n *= level.count;
  }
  return arguments;
}

std::string NameOfReduction(DType dtype, Reduction reduction) {
  return absl::StrCat(reduction == Reduction::kSum ? "sum_" : "max_", weft::NameOf(dtype));
}

}  // namespace

absl::StatusOr<GpuMove> GpuMove::Create(Gpu* gpu, const std::string& kernel, const CombineArguments& arguments) {
  auto found = GpuKernel<CombineArguments>::Find(gpu, "local", kernel);
  if (!found.ok()) return found.status();
  GpuGrid grid = GridFor(arguments.n, kThreads);
  grid.blocks[0] = std::min(grid.blocks[0], static_cast<uint32_t>(gpu->properties().multiprocessors) * 16);
  return GpuMove(*found, grid, arguments);
}

absl::StatusOr<GpuMove> GpuMove::Copy(Gpu* gpu, const TileCopy& copy, int64_t element_bytes) {
  const absl::StatusOr<CombineArguments> arguments = ArgumentsOf(copy, element_bytes);
  if (!arguments.ok()) return arguments.status();
  return Create(gpu, absl::StrCat("copy_", element_bytes), *arguments);
}

absl::StatusOr<GpuMove> GpuMove::Reduce(Gpu* gpu, const TileCopy& copy, DType dtype, Reduction reduction) {
  const absl::StatusOr<CombineArguments> arguments = ArgumentsOf(copy, static_cast<int64_t>(SizeOf(dtype)));
  if (!arguments.ok()) return arguments.status();
  return Create(gpu, NameOfReduction(dtype, reduction), *arguments);
}

absl::StatusOr<GpuMove> GpuMove::ReduceRange(Gpu* gpu, int64_t first, int64_t count, DType dtype, Reduction reduction) {
  CombineArguments arguments = {};
  arguments.n = count;
  arguments.run = std::max<int64_t>(count, 1);
  arguments.from = arguments.to = first;
  return Create(gpu, NameOfReduction(dtype, reduction), arguments);
}

absl::StatusOr<GpuMove> GpuMove::Transpose(Gpu* gpu, int64_t outer, int64_t inner, int64_t run, int64_t element_bytes) {
  CombineArguments arguments = {};
  arguments.n = outer * inner * run;
  arguments.run = run;
  arguments.levels = 2;
  arguments.count[0] = inner;
  arguments.from_step[0] = run;
  arguments.to_step[0] = outer * run;
  arguments.count[1] = outer;
  arguments.from_step[1] = inner * run;
  arguments.to_step[1] = run;
  return Create(gpu, absl::StrCat("copy_", element_bytes), arguments);
}

absl::Status GpuMove::Run(const void* const* inputs, int input_count, void* const* outputs, int output_count,
                          void* stream) const {
  if (arguments_.n == 0) return absl::OkStatus();
  CombineArguments arguments = arguments_;
  std::copy_n(inputs, input_count, arguments.inputs);
  std::copy_n(outputs, output_count, arguments.outputs);
  arguments.input_count = input_count;
  arguments.output_count = output_count;
  return kernel_.Launch(grid_, arguments, stream);
}

}  // namespace weft::collective
