#include "ops/abi/step_values.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/kernel.h"

namespace weft {

absl::StatusOr<const double*> GpuStepValues::Add(Value value, const std::string& key) {
  if (const auto found = keys_.find(key); !key.empty() && found != keys_.end()) {
    return static_cast<const double*>(memory_.get()) + found->second;
  }
  if (values_.size() == kMost) {
    return absl::ResourceExhaustedError(absl::StrCat("numbers of a step: expected at most ", kMost, " on one stream"));
  }
  if (memory_ == nullptr) {
    WEFT_ASSIGN_OR_RETURN(memory_, gpu_->Allocate(kMost * sizeof(double)));
  }
  const size_t place = values_.size();
  values_.push_back(std::move(value));
  if (!key.empty()) keys_[key] = place;
  return static_cast<const double*>(memory_.get()) + place;
}

void GpuStepValues::Fill(int64_t step, double* host) const {
  for (size_t i = 0; i < values_.size(); ++i) host[i] = values_[i](step);
}

absl::StatusOr<const double*> AddStepValue(const KernelSpec& spec, GpuStepValues::Value value, const std::string& key) {
  if (spec.gpu_step_values == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("kernel `", spec.name, "`: expected memory for numbers of a step"));
  }
  return spec.gpu_step_values->Add(std::move(value), key);
}

absl::StatusOr<const double*> AddStepNumber(const KernelSpec& spec) {
  return AddStepValue(spec, [](int64_t step) { return static_cast<double>(step); }, "step");
}

}  // namespace weft
