// The learning rate over the steps: for the kernels of every device.
#ifndef WEFT_OPS_OPTIMIZER_LEARNING_RATE_H_
#define WEFT_OPS_OPTIMIZER_LEARNING_RATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::optimizer {

class LearningRate {
 public:
  // From the attributes of learning_rate.
  static absl::StatusOr<LearningRate> Create(const KernelSpec& spec);
  float At(int64_t step) const;

 private:
  enum class Shape { kConstant, kCosine, kLinear };
  Shape shape_ = Shape::kConstant;
  double lr_ = 0, warmup_ = 0, total_ = 0, min_ratio_ = 0;
};

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_LEARNING_RATE_H_
