// Attention as a graph of cuDNN's operations, which its fused engines know.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_ATTENTION_GRAPH_H_
#define WEFT_RUNTIME_DEVICE_CUDA_ATTENTION_GRAPH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/gpu_attention.h"
#include "runtime/device/cuda/cudnn_graph.h"

namespace weft::device {

// What a graph reads and writes, by its id.
enum class AttentionTensor : int64_t {
  kQ = 1,
  kK,
  kV,
  kOut,
  kLse,
  kDout,
  kDq,
  kDk,
  kDv,
  // Memory of the gradient's own.
  kDelta,  // float32, rowsum(dout * out)
  kDqSum,  // float32, dq as it is added to
  // Values of the host.
  kScale,
  kHidden,  // what a masked score becomes: -infinity
  kOne,
  kKeys,
  kQueries,  // both int32
};

// How a spec is told to cuDNN, and whether it can be. A causal mask is that of a square, or ends with the last key:
// no other is known to be fused.
struct AttentionMask {
  enum { kNone, kFromFirst, kToLast } kind;
};
absl::StatusOr<AttentionMask> MaskOf(const GpuAttentionSpec& spec);

struct AttentionGraph {
  CudnnGraphBuilder::Graph graph;
  // What must have an address, or a value, when it is run.
  std::vector<AttentionTensor> tensors;
};

// The graph for `spec`. A gradient that is not `deterministic` adds to dq from all blocks at once; else every sum has
// one order, for which cuDNN keeps the scores' gradients (2 bytes each) in its workspace. kUnimplemented says what
// cuDNN has no graph for.
absl::StatusOr<AttentionGraph> MakeAttentionGraph(const cuda::dnn::Cudnn& library, cuda::Handle handle,
                                                  const GpuAttentionSpec& spec, bool deterministic);

// "attention of bf16[2,128,4,64] over 256 keys of 2 heads, causal", "gradient of attention of ...".
std::string Describe(const GpuAttentionSpec& spec);

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_CUDA_ATTENTION_GRAPH_H_
