// GPU kernels of grouped_matmul and grouped_outer, for the types of cpu.cc. A wrong count raises an alarm.
#include "ops/einsum/cuda_grouped.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/einsum/cuda_arguments.h"
#include "ops/einsum/grouped.h"

namespace weft::einsum {
namespace {

constexpr int64_t kMostBlocks = 65535;  // along y and z

int64_t TilesOf(const GroupedProblem& problem, int64_t size) {
  const int64_t side = problem.type == DType::kF32 ? kTile : kMatrixTile;
  return (size + side - 1) / side;
}

absl::StatusOr<std::unique_ptr<Kernel>> Launch(const KernelSpec& spec, const GroupedProblem& problem, const char* name,
                                               int64_t row_tiles, int64_t products) {
  if (TilesOf(problem, problem.m) > kMostBlocks) {
    return absl::InvalidArgumentError(absl::StrCat("expected fewer columns, got ", problem.m));
  }
  WEFT_ASSIGN_OR_RETURN(std::shared_ptr<GpuAlarm> alarm,
                        spec.gpu->CreateAlarm([problem, name = spec.name](const GpuAlarm& it) {
                          const absl::Status status = BadCount(problem, it.where, it.value);
                          return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
                        }));
  const GroupedArguments arguments = {.outer = problem.outer,
                                      .rows = problem.rows,
                                      .k = problem.k,
                                      .m = problem.m,
                                      .groups = problem.groups,
                                      .begin = problem.begin,
                                      .count = problem.count,
                                      .transposed = problem.transposed,
                                      .alarm = alarm.get()};
  const GpuGrid grid = {.blocks = {static_cast<uint32_t>(std::max<int64_t>(row_tiles, 1)),
                                   static_cast<uint32_t>(std::max<int64_t>(TilesOf(problem, problem.m), 1)),
                                   static_cast<uint32_t>(std::clamp<int64_t>(products, 1, kMostBlocks))},
                        .threads = {kSide, kSide, 1}};
  return MakeGpuLaunch(
      spec, "einsum", absl::StrCat("grouped_", name, "_", NameOf(problem.type), "_", NameOf(problem.result)), grid,
      arguments, [alarm](GroupedArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
        arguments.left = inputs[0];
        arguments.right = inputs[1];
        arguments.counts = static_cast<const int32_t*>(inputs[2]);
        arguments.result = outputs[0];
      });
}

}  // namespace

// As many tiles as there may be: each group, and what is behind the last, may begin one.
absl::StatusOr<std::unique_ptr<Kernel>> CreateGpuGroupedMatmul(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(GroupedProblem problem, MakeGroupedMatmul(spec));
  return Launch(spec, problem, "matmul", TilesOf(problem, problem.rows) + problem.groups + 1, problem.outer);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateGpuGroupedOuter(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(GroupedProblem problem, MakeGroupedOuter(spec));
  return Launch(spec, problem, "outer", TilesOf(problem, problem.k), problem.count);
}

}  // namespace weft::einsum
