// GPU kernel of cumsum, for the types of cpu.cc. A thread does a line: fast where there are many of them.
#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/families.h"
#include "ops/scan/cuda_arguments.h"
#include "ops/scan/plan.h"

namespace weft {
namespace {

using scan::kThreads;
using scan::ScanArguments;

absl::StatusOr<std::unique_ptr<Kernel>> CreateCumsum(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(scan::ScanPlan plan, scan::MakeScanPlan(spec));
  const ScanArguments arguments = {.lines = plan.lines.count(),
                                   .extent = plan.lines.extent,
                                   .inner = plan.lines.inner,
                                   .exclusive = plan.exclusive,
                                   .reverse = plan.reverse};
  return MakeGpuLaunch(spec, "scan", absl::StrCat("cumsum_", NameOf(spec.inputs[0].dtype)),
                       LoopGrid(*spec.gpu, arguments.lines, kThreads), arguments,
                       [](ScanArguments& arguments, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         arguments.x = inputs[0];
                         arguments.y = outputs[0];
                       });
}

}  // namespace

void RegisterScanCudaKernels(KernelRegistry& registry) { registry.Register("cumsum", &CreateCumsum); }

}  // namespace weft
