// What the CPU and the GPU kernel of rope have in common.
#ifndef WEFT_OPS_ROPE_PROBLEM_H_
#define WEFT_OPS_ROPE_PROBLEM_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/rope/limits.h"

namespace weft::rope {

// A local tile x[batch, sequence, heads, 2 pairs] that is turned. The sequence begins at position `first`, unless
// `positions` says that an operand has them.
struct Problem {
  int64_t batch = 0, sequence = 0, heads = 0, pairs = 0;
  int64_t first = 0;
  bool positions = false;
  bool interleaved = false;
  DType type = DType::kInvalid;
  // Radians a position, by pair; below 0 where the rotation is the inverse.
  std::array<double, kMaxPairs> frequencies{};
};

// Of a spec with x and, if it has two operands, i32 positions.
absl::StatusOr<Problem> ProblemOf(const KernelSpec& spec);

}  // namespace weft::rope

#endif  // WEFT_OPS_ROPE_PROBLEM_H_
