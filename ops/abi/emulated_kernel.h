// A kernel of a GPU, compiled for the host: what the emulation of a module
// (GpuModule::image) is made of.
#ifndef WEFT_OPS_ABI_EMULATED_KERNEL_H_
#define WEFT_OPS_ABI_EMULATED_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/abi/gpu.h"

namespace weft {

struct EmulatedKernel {
  const char* module;
  const char* name;
  size_t argument_bytes;
  uint32_t threads;  // the most a block may have
  void (*body)(const void* arguments);
  // Runs the whole grid; threads of a block take turns in an order that `order`
  // decides. An error says what no GPU would have let pass. One at a time.
  absl::Status (*run)(const EmulatedKernel& kernel, const GpuGrid& grid, const void* arguments, uint64_t order);
};

// What the image of an emulated module points to.
struct EmulatedModule {
  static constexpr uint64_t kMagic = 0x77656674656d756cull;
  uint64_t magic = kMagic;
  std::string name;
  std::vector<const EmulatedKernel*> kernels;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_EMULATED_KERNEL_H_
