// The numbers of a step on their way to the kernels of one stream of a GPU.
#ifndef WEFT_RUNTIME_EXECUTOR_STEP_UPLOAD_H_
#define WEFT_RUNTIME_EXECUTOR_STEP_UPLOAD_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "ops/abi/step_values.h"
#include "runtime/device/device.h"

namespace weft::executor {

class StepUpload {
 public:
  // `device` has a gpu().
  explicit StepUpload(device::Device& device)
      : device_(device), values_(std::make_shared<GpuStepValues>(device.gpu())) {}

  // For the kernels of the stream, while they are created.
  const std::shared_ptr<GpuStepValues>& values() const { return values_; }

  // After the kernels are created.
  absl::Status Prepare();

  // On the stream's thread, before the first kernel of a step; what it enqueued for the step before is done.
  absl::Status Run(int64_t step, device::Stream& stream);

 private:
  device::Device& device_;
  const std::shared_ptr<GpuStepValues> values_;
  std::unique_ptr<device::Arena> host_;  // null: no kernel takes any
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_STEP_UPLOAD_H_
