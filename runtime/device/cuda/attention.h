// Fused attention by cuDNN.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_ATTENTION_H_
#define WEFT_RUNTIME_DEVICE_CUDA_ATTENTION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/gpu_attention.h"
#include "runtime/device/cuda/attention_graph.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/cudnn.h"

namespace weft::device {

struct AttentionOptions {
  bool deterministic = false;           // the same gradients every time; else the fastest way
  size_t workspace_bytes = 256u << 20;  // the most that cuDNN may ask for, beside the sums that a gradient's shape says
  // Gets a line for people about each spec: how it is run, or why cuDNN does not; may be null.
  std::function<void(const std::string&)> note;
};

// `context` and `library` outlive it. The library is first asked for something when there is attention for it.
absl::StatusOr<std::unique_ptr<GpuAttentions>> CreateCudnnAttentions(const CudaContext& context,
                                                                     const cuda::dnn::Cudnn& library,
                                                                     AttentionOptions options);

// What cuDNN does not do, or is known to do wrong, on a GPU of compute capability `major`.x; kUnimplemented says what.
absl::Status CheckAttention(const GpuAttentionSpec& spec, int major, size_t version, bool deterministic);

// A graph with one of the library's ways to run it.
struct AttentionPlan {
  AttentionGraph graph;
  CudnnDescriptor config, plan;
  int64_t engine = 0;
  size_t workspace_bytes = 0;  // cuDNN's own
};

// Offers the library's ways, best first, as its heuristics have them for the handle's GPU; where the handle is null,
// for that of `device`, a finalized description. Ends with OK when `take` returns true. An error is why the last way
// was none; kUnimplemented if there was no other reason. Each way may take seconds to compile.
absl::Status OfferPlans(const cuda::dnn::Cudnn& library, cuda::Handle handle, const CudnnDescriptor* device,
                        const GpuAttentionSpec& spec, bool deterministic,
                        const std::function<bool(AttentionPlan)>& take);

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_ATTENTION_H_
