// A vendor's fused attention, as kernels see it. The runtime implements it over
// cuDNN (runtime/device/cuda/attention.h).
#ifndef WEFT_OPS_ABI_GPU_ATTENTION_H_
#define WEFT_OPS_ABI_GPU_ATTENTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"

namespace weft {

// softmax(scale q k^T) v for every head, or its gradient. q, out and their gradients are [batch, queries,
// query_heads, depth], k, v and theirs [batch, keys, key_heads, depth], dense; query head i reads key head
// i / (query_heads / key_heads). With `packed` q, k and v, and their gradients, are parts of one tensor [batch,
// queries, 3, query_heads, depth], as long as the others' rows and heads are alike. lse is float32 [batch, query_heads,
// queries]: the natural logarithm of the sum of exponentials of a row's scaled scores. All but lse may have more rows
// than are asked for, `query_rows` or `key_rows` in each element of the batch, of which the first ones are taken.
struct GpuAttentionSpec {
  DType type = DType::kBF16;  // of all tensors but lse
  int64_t batch = 1, queries = 1, keys = 1, query_heads = 1, key_heads = 1, depth = 1;
  int64_t query_rows = 0, key_rows = 0;  // 0: as many as `queries`, `keys`
  bool packed = false;
  float scale = 1;
  bool causal = false;
  int64_t first_limit = 1;  // with `causal`: row i sees the keys below first_limit + i
  bool gradient = false;
  bool lse = true;  // forward: written; a gradient reads it always
};

inline int64_t AllQueryRows(const GpuAttentionSpec& spec) { return std::max(spec.query_rows, spec.queries); }
inline int64_t AllKeyRows(const GpuAttentionSpec& spec) { return std::max(spec.key_rows, spec.keys); }

// In device memory, aligned to 64 bytes; those that the spec does not ask for are null.
struct GpuAttentionAddresses {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* out = nullptr;  // a gradient reads it
  void* lse = nullptr;  // a gradient reads it
  const void* dout = nullptr;
  void* dq = nullptr;
  void* dk = nullptr;
  void* dv = nullptr;
};

// Attention as it will be run. Of one thread at a time.
class GpuAttention {
 public:
  virtual ~GpuAttention() = default;
  virtual size_t workspace_bytes() const = 0;
  // Enqueues. `workspace`: as many bytes, aligned to 256, that nothing else uses until this has run.
  virtual absl::Status Run(const GpuAttentionAddresses& addresses, void* workspace, void* stream) = 0;
};

// Thread-safe; outlives what it makes.
class GpuAttentions {
 public:
  virtual ~GpuAttentions() = default;
  // May take a while: code may be compiled. The same spec is run the same way as long as the library
  // lives. kUnimplemented: the library has no way to do it; the message says why.
  virtual absl::StatusOr<std::unique_ptr<GpuAttention>> Create(const GpuAttentionSpec& spec) = 0;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_GPU_ATTENTION_H_
