// What the machine could do at best.
#ifndef WEFT_TOOLS_RUN_PEAK_H_
#define WEFT_TOOLS_RUN_PEAK_H_

#include <optional>

#include "ops/abi/dtype.h"
#include "ops/abi/registry.h"

namespace weft::run {

// FLOPs a second of square matrix products on `threads` threads side by side,
// each counted in the time that it had a core: what `mfu` is a share of, also
// on a machine that others use. Takes some 150 ms. Nothing if the registry has no
// `einsum` for this type.
std::optional<double> MeasurePeak(const KernelRegistry& kernels, DType dtype, int threads);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_PEAK_H_
