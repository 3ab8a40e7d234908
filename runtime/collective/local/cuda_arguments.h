// What the host tells the kernels of cuda.cu.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_CUDA_ARGUMENTS_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_CUDA_ARGUMENTS_H_

#include <cstdint>

namespace weft::collective {

inline constexpr int kThreads = 256;
inline constexpr int kMaxMembers = 64;
inline constexpr int kMaxLevels = 8;

// Combines elements of the inputs, in their order, and writes the result to all
// outputs. The elements are runs of `run` neighbours, laid out by levels, innermost
// first, with steps in inputs and outputs; all in elements. One input: a copy.
struct CombineArguments {
  const void* inputs[kMaxMembers];
  void* outputs[kMaxMembers];
  int32_t input_count, output_count;
  int32_t levels;
  int64_t n;  // elements of all runs
  int64_t run;
  int64_t from, to;  // of the first element
  int64_t count[kMaxLevels];
  int64_t from_step[kMaxLevels];
  int64_t to_step[kMaxLevels];
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_CUDA_ARGUMENTS_H_
