// Numbers that change from step to step, for kernels of a GPU. A launch is the
// same in every step, so that a GPU can repeat a step by itself (a CUDA graph);
// what is not the same is in device memory, written once at a step's beginning.
#ifndef WEFT_OPS_ABI_STEP_VALUES_H_
#define WEFT_OPS_ABI_STEP_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/gpu.h"

namespace weft {

struct KernelSpec;

// Those of the kernels of one stream. Not thread-safe.
class GpuStepValues {
 public:
  using Value = std::function<double(int64_t step)>;
  static constexpr size_t kMost = 512;

  explicit GpuStepValues(Gpu* gpu) : gpu_(gpu) {}

  // Where on the device `value(step)` stands while kernels of a step run. Only while
  // kernels are created. Values with one key are one; with "" each is its own.
  // kResourceExhausted beyond kMost.
  absl::StatusOr<const double*> Add(Value value, const std::string& key = "");

  // What whoever runs the kernels does before them in every step: Fill() in memory of the
  // host, and a copy of it to data(), on the kernels' stream. No bytes: nothing to do.
  size_t bytes() const { return values_.size() * sizeof(double); }
  void* data() const { return memory_.get(); }
  void Fill(int64_t step, double* host) const;

 private:
  Gpu* const gpu_;
  std::shared_ptr<void> memory_;
  std::vector<Value> values_;
  std::map<std::string, size_t> keys_;
};

// Add() to those of the spec. kInvalidArgument if it has none.
absl::StatusOr<const double*> AddStepValue(const KernelSpec& spec, GpuStepValues::Value value,
                                           const std::string& key = "");

// The number of the step itself, from 0: what random kernels take as their event.
absl::StatusOr<const double*> AddStepNumber(const KernelSpec& spec);

}  // namespace weft

#endif  // WEFT_OPS_ABI_STEP_VALUES_H_
