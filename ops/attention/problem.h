// What the attention ops are asked to do, the same on every device.
#ifndef WEFT_OPS_ATTENTION_PROBLEM_H_
#define WEFT_OPS_ATTENTION_PROBLEM_H_

#include <array>
#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ops/abi/kernel.h"

namespace weft::attention {

// A bias or mask, [batch, query_heads, queries, keys] or 1 in any of these.
struct OfScoresInput {
  int input = -1;                     // of the kernel; below 0 if there is none
  std::array<int64_t, 4> dims = {};   // local extents
  std::array<int64_t, 4> steps = {};  // elements from one index to the next: 0 where it is the same along a dim

  bool present() const { return input >= 0; }
  int64_t first_key = 0;  // of all those that it has, the one that is the problem's key 0
  // Of the element of row 0 and key 0.
  int64_t Offset(int64_t b, int64_t head) const { return b * steps[0] + head * steps[1] + first_key * steps[3]; }
};

// Where q, k and v, or their gradients, begin.
template <typename Address>
struct OfHeads {
  Address q, k, v;
};

// q[batch, queries, query_heads, depth], k and v[batch, keys, key_heads, depth].
struct Problem {
  DType type;  // of q, k, v and what has their shapes
  int64_t batch, query_heads, key_heads, queries, keys, depth;
  float scale;  // of q . k
  bool causal;
  int64_t first_limit;  // with `causal`: row i sees the keys below `first_limit + i`, at least 0, at most all
  int64_t window;       // of these the last ones, before any are left out as beyond all; no fewer than a row may see
                        // where there is no window
  // Rows before `first_row` see no key, and no row sees the keys from `seen` on. All rows and keys but in a zigzag
  // block.
  int64_t first_row, seen;
  OfScoresInput bias, mask;  // f32, u8
  // Whether q, k and v are one input, [batch, queries, 3, query_heads, depth], and their gradients one result.
  bool packed;

  int64_t group() const { return query_heads / key_heads; }
  // Whether the window hides a key from a row that is below its limit.
  bool windowed() const { return causal && first_limit + queries - 1 > window; }
  // Whether there are rows or keys that others have nothing to do with.
  bool partial() const { return first_row > 0 || seen < keys; }
  // Whether all keys below a row's limit are seen, and as q . k says.
  bool plain() const { return !windowed() && !bias.present() && !mask.present(); }

  // How many tensors q, k and v are. A gradient's inputs are dout, these, out and what the forward saved.
  size_t tensors() const { return packed ? 1 : 3; }
  size_t out_input() const { return 1 + tensors(); }
  size_t saved_input() const { return 2 + tensors(); }
  // Elements from one row of q, of k and v, and of out to the next; gradients lie alike.
  int64_t query_row() const { return (packed ? 3 : 1) * out_row(); }
  int64_t key_row() const { return (packed ? 3 : 1) * key_heads * depth; }
  int64_t out_row() const { return query_heads * depth; }
  // q, k and v among the inputs from `first` on, or their gradients among the results.
  template <typename Address>
  OfHeads<Address> PartsOf(absl::Span<const Address> all, size_t first) const {
    if (!packed) return {all[first], all[first + 1], all[first + 2]};
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Address>>, const char, char>;
    Byte* const begin = static_cast<Byte*>(all[first]);
    const size_t bytes = static_cast<size_t>(out_row()) * SizeOf(type);
    return {begin, begin + bytes, begin + 2 * bytes};
  }
};

// The problem of an `attention` (with or without lse), an `attention_grad`, an `attention_bias_grad`, or one of their
// twins that store weights, `attention_unfused` and so on. The first two may have an attribute `packed`, of 1, or
// `block` and `blocks`: keys are one block of so many then, and rows no more than one. With `zigzag` beside these, rows
// and keys are whole blocks that weft.zigzag has made.
// kInvalidArgument says what does not fit.
absl::StatusOr<Problem> ParseProblem(const KernelSpec& spec);

}  // namespace weft::attention

#endif  // WEFT_OPS_ATTENTION_PROBLEM_H_
