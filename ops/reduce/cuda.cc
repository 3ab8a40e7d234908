// GPU kernels of reduce (sum, mean, max) over any dims, f32: sums in double.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/reduction.h"
#include "ops/families.h"
#include "ops/reduce/cuda_arguments.h"

namespace weft {
namespace {

using namespace reduce;  // the plan and the arguments

// A mean divides by the whole dims: a rank that holds a part of them gives a part of the mean.
double FactorOf(const KernelSpec& spec, const std::string& kind) {
  if (kind != "mean") return 1;
  const std::vector<int64_t> dims = *spec.attributes.Ints("dims");
  double count = 1;
  for (int64_t dim : dims) count *= static_cast<double>(spec.inputs[0].global_dims[dim]);
  return 1 / count;
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateReduce(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(ReducePlan plan, MakeReducePlan(spec));
  WEFT_ASSIGN_OR_RETURN(std::string kind, spec.attributes.String("kind"));
  if (kind != "sum" && kind != "mean" && kind != "max") {
    return absl::InvalidArgumentError(absl::StrCat("attribute `kind`: expected sum, mean or max, got ", kind));
  }
  ReduceArguments arguments = {.row = plan.row, .factor = FactorOf(spec, kind)};
  WEFT_RETURN_IF_ERROR(SetDims(plan.kept, arguments.kept));
  WEFT_RETURN_IF_ERROR(SetDims(plan.reduced, arguments.reduced));
  const int64_t tiles =
      plan.rows_reduced ? plan.kept.count() : plan.kept.count() * ((plan.row + kColumns - 1) / kColumns);
  GpuGrid grid = LoopGrid(*spec.gpu, std::max<int64_t>(tiles, 1) * kThreads, kThreads);
  if (!plan.rows_reduced) {
    grid.threads[0] = kColumns;
    grid.threads[1] = kThreads / kColumns;
  }
  const std::string name = absl::StrCat(kind == "max" ? "max" : "sum", plan.rows_reduced ? "_rows_" : "_columns_",
                                        NameOf(spec.inputs[0].dtype), "_", NameOf(spec.outputs[0].dtype));
  return MakeGpuLaunch(spec, "reduce", name, grid, arguments,
                       [](ReduceArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.x = inputs[0];
                         arguments.y = outputs[0];
                       });
}

}  // namespace

void RegisterReduceCudaKernels(KernelRegistry& registry) { registry.Register("reduce", &CreateReduce); }

}  // namespace weft
