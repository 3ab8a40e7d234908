// What the machine could do at best.
#ifndef WEFT_TOOLS_RUN_PEAK_H_
#define WEFT_TOOLS_RUN_PEAK_H_

#include <optional>

#include "ops/abi/dtype.h"
#include "ops/abi/registry.h"

namespace weft::run {

// FLOPs a second of a square matrix product on `threads` threads, the best of
// some 150 ms: what `mfu` is a share of. Nothing if the registry has
// no `einsum` for this type.
std::optional<double> MeasurePeak(const KernelRegistry& kernels, DType dtype, int threads);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_PEAK_H_
