// What both attention ops are asked to do, the same on every device.
#ifndef WEFT_OPS_ATTENTION_PROBLEM_H_
#define WEFT_OPS_ATTENTION_PROBLEM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::attention {

// q[batch, queries, query_heads, depth], k and v[batch, keys, key_heads, depth].
struct Problem {
  DType type;  // of all tensors but lse, which is f32
  int64_t batch, query_heads, key_heads, queries, keys, depth;
  float scale;  // of q . k
  bool causal;
  int64_t first_limit;  // with `causal`: row i sees `first_limit + i` keys, at least 0, at most all

  int64_t group() const { return query_heads / key_heads; }
};

// The problem of an `attention` (with or without lse), an `attention_grad`, or one of their twins that store weights,
// `attention_unfused` and `attention_unfused_grad`. kInvalidArgument says what does not fit.
absl::StatusOr<Problem> ParseProblem(const KernelSpec& spec);

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_PROBLEM_H_
