// Tests of GPU kernels without a GPU: each is run by the emulation, in several
// orders of its threads, and compared with the CPU kernel of its name. The same
// tests run on a GPU in a program that says so (SetGpuRunner).
#ifndef WEFT_TESTS_EMULATION_SIMT_GPU_TESTING_H_
#define WEFT_TESTS_EMULATION_SIMT_GPU_TESTING_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ops/abi/emulated_kernel.h"
#include "ops/abi/gpu.h"
#include "tests/support/kernel_testing.h"

namespace weft::testing {

// A GPU whose memory is the host's and whose launches are done when they
// return; streams are ignored. Launches may come from any thread.
class EmulatedGpu : public Gpu {
 public:
  // `order` of the threads of a block: 0 ascending, 1 descending, more: by chance.
  explicit EmulatedGpu(uint64_t order = 0);

  const GpuProperties& properties() const override { return properties_; }
  // What is carried out as PTX.
  absl::Status Add(const std::string& module, const std::string& text) override;
  absl::StatusOr<void*> Find(const std::string& module, const std::string& kernel, size_t argument_bytes,
                             int64_t shared_bytes) override;
  absl::StatusOr<std::shared_ptr<void>> Allocate(size_t bytes) override;
  absl::StatusOr<std::shared_ptr<GpuAlarm>> CreateAlarm(std::function<absl::Status(const GpuAlarm&)> describe) override;
  absl::Status Launch(void* kernel, const GpuGrid& grid, const void* arguments, void* stream) override;
  absl::Status Copy(void* to, const void* from, size_t bytes, void* stream) override;
  absl::Status Fill(void* to, uint8_t value, size_t bytes, void* stream) override;
  absl::StatusOr<std::shared_ptr<void>> CreateEvent() override { return std::make_shared<int>(); }
  absl::Status Record(void*, void*) override { return absl::OkStatus(); }
  absl::Status Wait(void*, void*) override { return absl::OkStatus(); }
  absl::StatusOr<bool> Reached(void*) override { return true; }

  // The first alarm that is raised, or damage around memory of Allocate().
  absl::Status Check() const;
  int64_t launches() const { return launches_; }

 private:
  struct Alarm {
    std::shared_ptr<GpuAlarm> alarm;
    std::function<absl::Status(const GpuAlarm&)> describe;
  };
  const uint64_t order_;
  const GpuProperties properties_{.major = 9, .multiprocessors = 4, .shared_bytes = 227 << 10};
  std::vector<std::unique_ptr<EmulatedModule>> modules_;
  std::vector<Alarm> alarms_;
  std::vector<std::weak_ptr<void>> allocations_;
  std::atomic<int64_t> launches_{0};
};

// Creates and runs a kernel once, as RunKernel() does, on a GPU of its own.
using GpuRunner = std::function<absl::StatusOr<std::vector<Values>>(
    const KernelRegistry& registry, KernelSpec spec, const std::vector<Values>& inputs, const RunContext& context,
    const std::vector<std::pair<int, int>>& in_place)>;

// From now on RunGpuKernel() asks `runner`, twice. For programs that run the tests of
// kernels on a GPU; before the first test.
void SetGpuRunner(GpuRunner runner);

// Creates and runs `spec` of `registry` as RunKernel() does, on an emulated
// GPU, in three orders: an error unless all give the same bits.
absl::StatusOr<std::vector<Values>> RunGpuKernel(const KernelRegistry& registry, KernelSpec spec,
                                                 const std::vector<Values>& inputs, const RunContext& context = {},
                                                 const std::vector<std::pair<int, int>>& in_place = {});

// The registry that a family's Register function fills, made once.
template <void (*kRegister)(KernelRegistry&)>
const KernelRegistry& Registered() {
  static const KernelRegistry registry = [] {
    KernelRegistry made;
    kRegister(made);
    return made;
  }();
  return registry;
}

// How far a GPU kernel may be from its CPU twin.
struct Bound {
  double relative = 0;  // of the larger magnitude
  double absolute = 0;
};

// Runs the kernel of both registries on the same inputs; fails the test where
// an element differs by more than absolute + relative * magnitude. On a GPU, which
// has other functions and fuses products and sums, some units in the last place more.
void ExpectTwins(const KernelRegistry& cpu, const KernelRegistry& gpu, const KernelSpec& spec,
                 const std::vector<Values>& inputs, Bound bound = {}, const RunContext& context = {},
                 const std::vector<std::pair<int, int>>& in_place = {});

}  // namespace weft::testing

#endif  // WEFT_TESTS_EMULATION_SIMT_GPU_TESTING_H_
