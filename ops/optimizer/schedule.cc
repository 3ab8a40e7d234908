#include "ops/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::optimizer {

absl::StatusOr<Schedule> Schedule::Create(const KernelSpec& spec) {
  absl::StatusOr<double> lr = spec.attributes.Float("lr");
  absl::StatusOr<double> warmup = FloatAttribute(spec, "warmup", 0), total = FloatAttribute(spec, "total", 0);
  absl::StatusOr<double> min_ratio = FloatAttribute(spec, "min_ratio", 0);
  absl::StatusOr<std::string> name = spec.attributes.String("schedule");
  for (const absl::Status& status : {lr.status(), warmup.status(), total.status(), min_ratio.status(), name.status()}) {
    if (!status.ok()) return status;
  }
  Schedule schedule;
  if (*name == "warmup_cosine") {
    schedule.shape_ = Shape::kCosine;
  } else if (*name == "warmup_linear") {
    schedule.shape_ = Shape::kLinear;
  } else if (*name != "constant") {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `schedule`: expected constant, warmup_cosine or warmup_linear, got ", *name));
  }
  if (schedule.shape_ != Shape::kConstant && *total <= *warmup) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `total`: expected more than the warm-up of ", *warmup, ", got ", *total));
  }
  schedule.lr_ = *lr;
  schedule.warmup_ = *warmup;
  schedule.total_ = *total;
  schedule.min_ratio_ = *min_ratio;
  return schedule;
}

float Schedule::RateAt(int64_t at) const {
  const auto step = static_cast<double>(at);
  if (step < warmup_) return static_cast<float>(lr_ * ((step + 1) / warmup_));
  if (shape_ == Shape::kConstant) return static_cast<float>(lr_);
  const double x = std::min(1.0, (step - warmup_) / (total_ - warmup_));
  const double share = shape_ == Shape::kLinear ? 1 - x : 0.5 * (1 + std::cos(M_PI * x));
  return static_cast<float>(lr_ * (min_ratio_ + (1 - min_ratio_) * share));
}

}  // namespace weft::optimizer
