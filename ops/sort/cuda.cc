// GPU kernels of sort and top_k, for the types of cpu.cc.
#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/families.h"
#include "ops/sort/cuda_arguments.h"
#include "ops/sort/problem.h"

namespace weft {
namespace {

using sort::kThreads;
using sort::SortArguments;

absl::StatusOr<std::unique_ptr<Kernel>> CreateSort(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(sort::SortProblem problem, sort::MakeProblem(spec));
  const SortArguments arguments = {.outer = problem.lines.outer,
                                   .extent = problem.lines.extent,
                                   .inner = problem.lines.inner,
                                   .kept = problem.kept,
                                   .descending = problem.descending};
  return MakeGpuLaunch(spec, "sort", absl::StrCat("sort_", NameOf(problem.type)),
                       LoopGrid(*spec.gpu, spec.inputs[0].elements(), kThreads), arguments,
                       [](SortArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.x = inputs[0];
                         arguments.values = outputs[0];
                         arguments.ids = static_cast<int32_t*>(outputs[1]);
                       });
}

}  // namespace

void RegisterSortCudaKernels(KernelRegistry& registry) {
  registry.Register("sort", &CreateSort);
  registry.Register("top_k", &CreateSort);
}

}  // namespace weft
