// The GPU kernel `attention_merge`, for blocks of f32, bf16 and f16. An output may have the address of its input.
#include "ops/attention/cuda_merge.h"

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/attention/cuda_arguments.h"

namespace weft::attention {

absl::StatusOr<std::unique_ptr<Kernel>> CreateMerge(const KernelSpec& spec) {
  WEFT_ASSIGN_OR_RETURN(Extents extents, MatchSpec(spec, "bsnd,bns,float:bsnd,bns->bsnd,bns"));
  const MergeArguments arguments{.rows = extents['b'] * extents['s'],
                                 .rows_each = extents['s'],
                                 .heads = extents['n'],
                                 .depth = static_cast<int32_t>(extents['d'])};
  const GpuGrid grid = LoopGrid(*spec.gpu, arguments.rows * arguments.heads * 32, kMergeThreads);  // a warp a row
  return MakeGpuLaunch(spec, "attention", absl::StrCat("merge_", NameOf(spec.inputs[2].dtype)), grid, arguments,
                       [](MergeArguments& a, const RunContext&, GpuInputs inputs, GpuOutputs outputs) {
                         a.out = static_cast<const float*>(inputs[0]);
                         a.lse = static_cast<const float*>(inputs[1]);
                         a.more = inputs[2];
                         a.more_lse = static_cast<const float*>(inputs[3]);
                         a.both = static_cast<float*>(outputs[0]);
                         a.both_lse = static_cast<float*>(outputs[1]);
                       });
}

}  // namespace weft::attention
