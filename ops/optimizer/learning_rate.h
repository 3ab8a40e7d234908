// The learning rate over the steps: for the kernels of every device.
#ifndef WEFT_OPS_OPTIMIZER_LEARNING_RATE_H_
#define WEFT_OPS_OPTIMIZER_LEARNING_RATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft::optimizer {

class LearningRate {
 public:
  // From the attributes of learning_rate.
  static absl::StatusOr<LearningRate> Create(const KernelSpec& spec);
  float At(int64_t step) const;

 private:
  using Share = double (LearningRate::*)(double) const;

  // What is left of `lr` at a step behind the warm-up.
  double Constant(double) const { return 1; }
  double Cosine(double step) const;
  double Linear(double step) const;
  double InverseSqrt(double step) const;
  double Polynomial(double step) const;
  double Steps(double step) const;
  double StableDecay(double step) const;
  double Restarts(double step) const;
  double Count(double step) const { return step + 1; }

  double Above(double share) const { return min_ratio_ + (1 - min_ratio_) * share; }
  double Done(double step) const;  // of the steps from `warmup` to `total`

  // nullptr where there is none of this name: `known` has all then.
  static Share Find(const std::string& schedule, std::string* known);

  Share share_ = &LearningRate::Constant;
  double lr_ = 0, warmup_ = 0, total_ = 0, min_ratio_ = 0;
  double power_ = 1, factor_ = 1, every_ = 0, decay_ = 0, period_ = 0, growth_ = 1;
  std::vector<int64_t> milestones_;
};

}  // namespace weft::optimizer

#endif  // WEFT_OPS_OPTIMIZER_LEARNING_RATE_H_
