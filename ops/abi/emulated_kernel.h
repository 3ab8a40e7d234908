// A kernel of a GPU, compiled for the host: what the emulation of a module
// (GpuModule::image) is made of.
#ifndef WEFT_OPS_ABI_EMULATED_KERNEL_H_
#define WEFT_OPS_ABI_EMULATED_KERNEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
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

// An error if no GPU would take the launch.
inline absl::Status CheckGrid(const EmulatedKernel& kernel, const GpuGrid& grid) {
  uint64_t threads = 1, blocks = 1;
  for (int d = 0; d < 3; ++d) {
    threads *= grid.threads[d];
    blocks *= grid.blocks[d];
  }
  const uint32_t most = std::min<uint32_t>(kernel.threads, 1024);
  if (threads >= 1 && threads <= most && blocks >= 1 && blocks < 1u << 31 && grid.blocks[1] < 65536 &&
      grid.blocks[2] < 65536) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("kernel ", kernel.module, ".", kernel.name,
                                                 ": expected blocks of 1 to ", most, " threads, got ",
                                                 grid.ToString()));
}

// What the image of an emulated module points to.
struct EmulatedModule {
  static constexpr uint64_t kMagic = 0x77656674656d756cull;
  uint64_t magic = kMagic;
  std::string name;
  std::vector<const EmulatedKernel*> kernels;
  std::shared_ptr<const void> owner = nullptr;  // of kernels that go with it
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_EMULATED_KERNEL_H_
