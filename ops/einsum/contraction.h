// From an einsum equation to the dims of a batched matrix product.
#ifndef WEFT_OPS_EINSUM_CONTRACTION_H_
#define WEFT_OPS_EINSUM_CONTRACTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::einsum {

enum Operand { kLeft = 0, kRight = 1, kResult = 2 };

// A letter, or several merged into one: its extent and its stride in each
// operand, in elements; the stride is 0 where an operand lacks the letter.
struct Axis {
  int64_t extent;
  int64_t stride[3];
};

// result[batch, rows, columns] = sum over inner of left[batch, rows, inner] * right[batch, inner, columns].
// Each list is ordered as its letters lie in the result (`inner`: in the left operand). Letters of
// extent 1 are left out. `swapped`: `left` is the equation's second operand and `right` its first.
struct Contraction {
  std::vector<Axis> batch, rows, columns, inner;
  bool swapped = false;
};

// Reads "bsi,io->bso" for row-major operands of the given dims, in the order left, right, result.
// kInvalidArgument, naming the equation, for a malformed one, a letter that repeats in an operand, a
// letter of one operand alone that the result lacks, or extents that do not agree.
absl::StatusOr<Contraction> ParseContraction(const std::string& equation, const std::vector<int64_t> (&dims)[3]);

// Swaps the operands where the result's innermost letter then becomes a column.
Contraction Oriented(Contraction contraction);

// Gives `operand` the strides of a dense copy: left [batch, rows, inner], right [batch, inner,
// columns], result [batch, rows, columns].
void MakeDense(Contraction& contraction, Operand operand);

// Merges neighbouring axes of each list that every operand steps through as one.
Contraction Merged(Contraction contraction);

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CONTRACTION_H_
