// A CUDA driver for tests on machines without a GPU: device memory is memory of
// the host that can be touched only while the "GPU" works, streams are threads
// that do their work late, kernels are those that clang has compiled for the
// host (ops/cuda/simt.h). What forgets to wait for an event goes wrong; what a
// real driver would refuse, or let pass and regret, is refused.
#ifndef WEFT_TESTS_EMULATION_CUDA_DRIVER_H_
#define WEFT_TESTS_EMULATION_CUDA_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ops/abi/emulated_kernel.h"
#include "ops/abi/gpu.h"
#include "runtime/device/cuda/driver.h"

namespace weft::cuda {

struct EmulatedOptions {
  int gpus = 1;
  int64_t memory_bytes = int64_t{1} << 30;  // of each
  int major = 9, minor = 0;
  int most_delay_us = 50;  // before a piece of work begins
  uint64_t seed = 1;       // of the delays and of the order of kernels' threads
  size_t graph_bytes = 0;  // of the GPU's memory, that a graph takes
  // False: kernels, copies and fills are looked at but do nothing, and memory is addresses alone, of which there
  // may be as much as a GPU has: for plans of any size, whose numbers do not matter.
  bool computes = true;
  std::function<void()> on_graph = nullptr;  // called while one is made; may be null
};

// Outlives what uses its driver. Errors beyond a result's name are told in complaints().
class EmulatedDriver {
 public:
  explicit EmulatedDriver(const EmulatedOptions& options = {});
  ~EmulatedDriver();
  const Driver& driver() const { return driver_; }

  // Every misuse so far, one line each: a kernel that no GPU would run, memory
  // that is not there, a stream that is null, a thread without a context.
  std::vector<std::string> complaints() const;
  // What an emulation of a library over the driver is made of: `work` is done in the stream's order, while
  // device memory can be touched, and takes `milliseconds` of the GPU's time, which events measure;
  // what it returns, if not "", is a complaint.
  Result Enqueue(const std::string& call, Handle stream, double milliseconds, std::function<std::string()> work);
  bool computes() const;  // as the options say
  // Whether the bytes are in one allocation of this thread's GPU.
  bool Holds(const void* address, size_t bytes) const;

  int64_t urgent_streams() const;  // of the greatest priority, that were made
  int64_t launches() const;
  // Calls that gave a stream something to do, a whole graph among them as one; not those that were recorded.
  int64_t submissions() const;
  int64_t replays() const;  // of graphs
  int64_t allocated_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  Driver driver_;
};

// What ModuleLoadData of the emulation takes; `modules` outlive the result.
std::vector<GpuModule> ImagesOf(const std::vector<std::unique_ptr<EmulatedModule>>& modules);

}  // namespace weft::cuda

#endif  // WEFT_TESTS_EMULATION_CUDA_DRIVER_H_
