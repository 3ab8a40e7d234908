// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_LOGIC_CUDA_ARGUMENTS_H_
#define WEFT_OPS_LOGIC_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::logic {

inline constexpr int kThreads = 256;
inline constexpr int kMaxDims = 8;

// What is said of a and b; kNeither is logical_not, of x and x.
enum class Test : int32_t { kGreater, kGreaterEqual, kLess, kLessEqual, kEqual, kNotEqual, kAnd, kOr, kNeither };

// y[i], i < n, of operands that are broadcast: the result's merged dims, innermost first, with the strides of each. A
// select's operands are condition, a and b.
struct LogicArguments {
  const void* operand[3];
  void* y;
  int64_t n;
  Test test;
  int32_t dims;
  int64_t extent[kMaxDims];
  int64_t stride[kMaxDims][3];
};

}  // namespace weft::logic

#endif  // WEFT_OPS_LOGIC_CUDA_ARGUMENTS_H_
