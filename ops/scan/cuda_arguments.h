// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_SCAN_CUDA_ARGUMENTS_H_
#define WEFT_OPS_SCAN_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::scan {

inline constexpr int kThreads = 128;

// `lines` of `extent` elements, `inner` apart.
struct ScanArguments {
  const void* x;
  void* y;
  int64_t lines, extent, inner;
  bool exclusive, reverse;
};

}  // namespace weft::scan

#endif  // WEFT_OPS_SCAN_CUDA_ARGUMENTS_H_
