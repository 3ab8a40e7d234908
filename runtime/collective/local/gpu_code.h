// The kernels of local collectives on a GPU, for a device to load.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_GPU_CODE_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_GPU_CODE_H_

#include "ops/abi/gpu.h"

namespace weft::collective {

GpuModule LocalGpuModule();

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_GPU_CODE_H_
