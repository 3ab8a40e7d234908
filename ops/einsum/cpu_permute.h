// Copies between two strided layouts of one tensor.
#ifndef WEFT_OPS_EINSUM_CPU_PERMUTE_H_
#define WEFT_OPS_EINSUM_CPU_PERMUTE_H_

#include <cstdint>
#include <vector>

#include "ops/abi/dtype.h"

namespace weft::einsum {

struct PermuteAxis {
  int64_t extent;
  int64_t from;  // strides in elements
  int64_t to;
};

// A copy prepared for one pair of layouts; the element types are f32, bf16
// or f16, and one of two that differ is f32. Run() may be called by any thread, does not allocate, and
// shares the work among `threads` threads.
class Permute {
 public:
  Permute(std::vector<PermuteAxis> axes, DType from, DType to, int threads);
  void Run(const void* from, void* to) const;

 private:
  template <typename From, typename To>
  void RunTyped(const From* from, To* to) const;
  // Between f32 and Narrow, in either direction.
  template <typename Narrow>
  void RunConverting(const void* from, void* to) const;

  std::vector<PermuteAxis> outer_;  // the slowest in `to` first
  PermuteAxis across_;              // the smallest step in `from`, unless `inner_` has it
  PermuteAxis inner_;               // the smallest step in `to`
  int64_t tiles_;                   // of outer_
  DType from_, to_;
  int threads_;
};

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_PERMUTE_H_
