// What the kernels of all devices work out when they are created: whether the spec fits, and how windows lie.
#ifndef WEFT_OPS_WINDOW_PROBLEM_H_
#define WEFT_OPS_WINDOW_PROBLEM_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "ops/window/windows.h"

namespace weft::window {

// Of a spec of each op of the family. kInvalidArgument names the first tensor or attribute that does not fit.
absl::StatusOr<Windows> UnfoldWindows(const KernelSpec& spec);
absl::StatusOr<Windows> FoldWindows(const KernelSpec& spec);
absl::StatusOr<Windows> MaxPoolWindows(const KernelSpec& spec);
absl::StatusOr<Windows> MaxPoolGradWindows(const KernelSpec& spec);
absl::StatusOr<Windows> DepthwiseWindows(const KernelSpec& spec);
absl::StatusOr<Windows> DepthwiseGradInputWindows(const KernelSpec& spec);
absl::StatusOr<Windows> DepthwiseGradWeightWindows(const KernelSpec& spec);

inline int64_t ExtentsOf(const Windows& w) { return w.dims[0].extent * w.dims[1].extent * w.dims[2].extent; }
inline int64_t PlacesOf(const Windows& w) { return w.dims[0].places * w.dims[1].places * w.dims[2].places; }
inline int64_t TapsOf(const Windows& w) { return w.dims[0].size * w.dims[1].size * w.dims[2].size; }

// A sum over all places of a tile is taken in parts, which are added up in order: this many at most, of `least` places
// or more.
inline int64_t PartsOf(const Windows& w, int64_t most, int64_t least) {
  const int64_t parts = w.outer * PlacesOf(w) / least;
  return parts < 1 ? 1 : parts > most ? most : parts;
}

}  // namespace weft::window

#endif  // WEFT_OPS_WINDOW_PROBLEM_H_
