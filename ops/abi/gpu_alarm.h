// What GPU kernels and the host both see of an alarm: plain, for nvcc.
#ifndef WEFT_OPS_ABI_GPU_ALARM_H_
#define WEFT_OPS_ABI_GPU_ALARM_H_

#include <cstdint>

namespace weft {

// Where kernels put what goes wrong with their data, such as a token outside the
// vocabulary (gpu::Raise() of ops/cuda/kernel.h). In memory that both sides
// reach; the first one to raise it wins.
struct GpuAlarm {
  uint32_t raised = 0;
  uint32_t unused = 0;
  int64_t where = 0;  // what the kernel says: an index
  int64_t value = 0;  // and what was found there
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_GPU_ALARM_H_
