// What is asked of CUPTI, CUDA's profiling library, without its header: the beginnings
// of its records, which its versions have in common. activity_test.cc compares.
#ifndef WEFT_RUNTIME_DEVICE_CUDA_ACTIVITY_H_
#define WEFT_RUNTIME_DEVICE_CUDA_ACTIVITY_H_

#include <cstddef>
#include <cstdint>

namespace weft::activity {

inline constexpr int kCopy = 1, kFill = 2, kKernel = 10;
inline constexpr uint32_t kFlushForced = 1;

// Times in nanoseconds.
struct KernelRecord {
  uint32_t kind;
  uint32_t settings[3];
  uint64_t begin, end, completed;
  uint32_t device, context, stream;
  uint32_t grid[3], block[3];
  uint32_t shared_static, shared_dynamic, local_thread, local_total, correlation;
  int64_t grid_id;
  const char* name;
};
struct CopyRecord {
  uint32_t kind;
  uint8_t copy, from, to, flags;
  uint64_t bytes, begin, end;
  uint32_t device, context, stream;
};
struct FillRecord {
  uint32_t kind, value;
  uint64_t bytes, begin, end;
  uint32_t device, context, stream;
};

}  // namespace weft::activity

#endif  // WEFT_RUNTIME_DEVICE_CUDA_ACTIVITY_H_
