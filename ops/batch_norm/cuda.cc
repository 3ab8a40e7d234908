// GPU kernels of batch_norm's pieces, for f32, bf16 and f16: sums in double, the rest in float.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/batch_norm/cuda_arguments.h"
#include "ops/batch_norm/problem.h"
#include "ops/families.h"

namespace weft {
namespace {

using namespace batch_norm;  // the problem and the arguments

// A kernel that goes over the elements, or with `sums` one that makes a number a kept index.
template <typename Bind>
absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec, const char* inputs, const char* outputs,
                                             const std::string& name, bool sums, Bind bind) {
  WEFT_ASSIGN_OR_RETURN(Problem problem, MakeProblem(spec, inputs, outputs));
  const reduce::ReducePlan& plan = problem.plan;
  BatchNormArguments arguments = {.row = plan.row,
                                  .channels = problem.channels,
                                  .share = 1 / problem.count,
                                  .eps = problem.eps,
                                  .rows_reduced = plan.rows_reduced};
  WEFT_RETURN_IF_ERROR(reduce::SetDims(plan.kept, arguments.kept));
  WEFT_RETURN_IF_ERROR(reduce::SetDims(plan.reduced, arguments.reduced));
  GpuGrid grid = LoopGrid(*spec.gpu, std::max<int64_t>(plan.inputs, 1), kThreads);
  std::string kernel = name;
  if (sums) {
    const int64_t columns = plan.rows_reduced ? 1 : (plan.row + kColumns - 1) / kColumns;
    grid = LoopGrid(*spec.gpu, std::max<int64_t>(plan.kept.count() * columns, 1) * kThreads, kThreads);
    kernel += plan.rows_reduced ? "_rows" : "_columns";
    if (!plan.rows_reduced) {
      grid.threads[0] = kColumns;
      grid.threads[1] = kThreads / kColumns;
    }
  }
  return MakeGpuLaunch(spec, "batch_norm", absl::StrCat(kernel, "_", NameOf(spec.inputs[0].dtype)), grid, arguments,
                       bind);
}

const float* FloatsOf(const void* address) { return static_cast<const float*>(address); }
float* FloatsOf(void* address) { return static_cast<float*>(address); }

absl::StatusOr<std::unique_ptr<Kernel>> CreateVariance(const KernelSpec& spec) {
  return Make(spec, "xk", "k", "variance", true,
              [](BatchNormArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
                a.x = in[0];
                a.mean = FloatsOf(in[1]);
                a.sum = FloatsOf(out[0]);
              });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateApply(const KernelSpec& spec) {
  return Make(spec, "xkkcc", "x", "apply", false,
              [](BatchNormArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
                a.x = in[0];
                a.mean = FloatsOf(in[1]);
                a.variance = FloatsOf(in[2]);
                a.weight = FloatsOf(in[3]);
                a.bias = FloatsOf(in[4]);
                a.y = out[0];
              });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateSums(const KernelSpec& spec) {
  return Make(spec, "xxkk", "kk", "sums", true,
              [](BatchNormArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
                a.dy = in[0];
                a.x = in[1];
                a.mean = FloatsOf(in[2]);
                a.variance = FloatsOf(in[3]);
                a.sum = FloatsOf(out[0]);
                a.sum_n = FloatsOf(out[1]);
              });
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateGrad(const KernelSpec& spec) {
  return Make(spec, "xxkkckk", "x", "grad", false,
              [](BatchNormArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
                a.dy = in[0];
                a.x = in[1];
                a.mean = FloatsOf(in[2]);
                a.variance = FloatsOf(in[3]);
                a.weight = FloatsOf(in[4]);
                a.dy_sum = FloatsOf(in[5]);
                a.dyn_sum = FloatsOf(in[6]);
                a.y = out[0];
              });
}

}  // namespace

void RegisterBatchNormCudaKernels(KernelRegistry& registry) {
  registry.Register("batch_variance", &CreateVariance);
  registry.Register("batch_norm_apply", &CreateApply);
  registry.Register("batch_norm_sums", &CreateSums);
  registry.Register("batch_norm_grad", &CreateGrad);
}

}  // namespace weft
