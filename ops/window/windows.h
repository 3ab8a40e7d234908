// How windows lie over a local tensor, on all devices.
#ifndef WEFT_OPS_WINDOW_WINDOWS_H_
#define WEFT_OPS_WINDOW_WINDOWS_H_

#include <cstdint>

namespace weft::window {

inline constexpr int kMaxDims = 3;

// One dim that windows slide along. Element `tap` of the window at `place` is the image's at place x stride - padding +
// tap x dilation, if that is in [0, extent).
struct WindowDim {
  int64_t extent = 1;  // of the image
  int64_t places = 1, size = 1;
  int64_t stride = 1, padding = 0, dilation = 1;
};

// An image is [outer, extents, inner]; what has an element a window [outer, places, inner], what has all elements of
// all windows [outer, places, sizes, inner]. There are always three dims: those that are too many come first, of one
// element.
struct Windows {
  int64_t outer = 1, inner = 1;
  WindowDim dims[kMaxDims];
};

}  // namespace weft::window

#endif  // WEFT_OPS_WINDOW_WINDOWS_H_
