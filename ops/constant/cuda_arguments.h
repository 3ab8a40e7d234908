// What the host tells the kernels of cuda.cu.
#ifndef WEFT_OPS_CONSTANT_CUDA_ARGUMENTS_H_
#define WEFT_OPS_CONSTANT_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::constant {

inline constexpr int kThreads = 256;
inline constexpr int kMostBytes = 3072;  // of the 4096 that arguments may have

// y[i] = the lowest bytes of `word`, i < n.
struct FillArguments {
  void* y;
  int64_t n;
  uint64_t word;
};

// y[i] = begin + i / inner % extent, i < n.
struct IotaArguments {
  void* y;
  int64_t n;
  int64_t extent, inner, begin;
};

// The bytes of y from `offset` on.
struct ConstantArguments {
  uint8_t* y;
  int64_t offset;
  int32_t count;
  uint8_t bytes[kMostBytes];
};

}  // namespace weft::constant

#endif  // WEFT_OPS_CONSTANT_CUDA_ARGUMENTS_H_
