// GPU kernel of rope, for f32, bf16 and f16. The output may have the address of x.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/families.h"
#include "ops/rope/cuda_arguments.h"
#include "ops/rope/problem.h"

namespace weft {
namespace {

using rope::kThreads;
using rope::RopeArguments;

absl::StatusOr<std::unique_ptr<Kernel>> CreateRope(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(rope::Problem problem, rope::ProblemOf(spec));
  RopeArguments arguments{.rows = problem.batch * problem.sequence,
                          .sequence = problem.sequence,
                          .heads = problem.heads,
                          .pairs = problem.pairs,
                          .first = problem.first,
                          .pair_stride = problem.interleaved ? 2 : 1,
                          .element_stride = problem.interleaved ? 1 : problem.pairs};
  std::copy(problem.frequencies.begin(), problem.frequencies.end(), arguments.frequencies);
  return MakeGpuLaunch(spec, "rope", absl::StrCat("rope_", NameOf(problem.type)),
                       LoopGrid(*spec.gpu, arguments.rows * arguments.pairs, kThreads), arguments,
                       [](RopeArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.x = inputs[0];
                         arguments.positions = inputs.size() == 2 ? static_cast<const int32_t*>(inputs[1]) : nullptr;
                         arguments.y = outputs[0];
                       });
}

}  // namespace

void RegisterRopeCudaKernels(KernelRegistry& registry) { registry.Register("rope", &CreateRope); }

}  // namespace weft
