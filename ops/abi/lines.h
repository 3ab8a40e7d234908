// Kernels that walk along one dim.
#ifndef WEFT_OPS_ABI_LINES_H_
#define WEFT_OPS_ABI_LINES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft {

// A tensor as outer x extent x inner: lines of `extent` elements, `inner` apart.
struct Lines {
  int64_t outer = 1, extent = 1, inner = 1;

  int64_t count() const { return outer * inner; }
};

// Those of input 0 along attribute `dim`; kInvalidArgument unless that dim is whole.
absl::StatusOr<Lines> LinesOfInput(const KernelSpec& spec);

}  // namespace weft

#endif  // WEFT_OPS_ABI_LINES_H_
