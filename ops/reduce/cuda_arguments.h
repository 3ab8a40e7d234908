// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_REDUCE_CUDA_ARGUMENTS_H_
#define WEFT_OPS_REDUCE_CUDA_ARGUMENTS_H_

#include <cstdint>

#include "ops/abi/dim_list.h"

namespace weft::reduce {

inline constexpr int kThreads = 256;
inline constexpr int kColumns = 32;  // of a block of kColumns x kThreads / kColumns threads

// See ReducePlan. Rows reduced: output k is that of kept index k. Rows kept: output
// k * row + c. Results are multiplied by `factor`.
struct ReduceArguments {
  const void* x;
  void* y;
  DimList kept, reduced;
  int64_t row;
  double factor;
};

}  // namespace weft::reduce

#endif  // WEFT_OPS_REDUCE_CUDA_ARGUMENTS_H_
