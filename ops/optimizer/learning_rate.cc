#include "ops/optimizer/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::optimizer {

absl::StatusOr<LearningRate> LearningRate::Create(const KernelSpec& spec) {
  LearningRate made;
  WEFT_ASSIGN_OR_RETURN(made.lr_, spec.attributes.Float("lr"));
  WEFT_ASSIGN_OR_RETURN(made.warmup_, FloatAttribute(spec, "warmup", 0));
  WEFT_ASSIGN_OR_RETURN(made.total_, FloatAttribute(spec, "total", 0));
  WEFT_ASSIGN_OR_RETURN(made.min_ratio_, FloatAttribute(spec, "min_ratio", 0));
  WEFT_ASSIGN_OR_RETURN(const std::string schedule, spec.attributes.String("schedule"));
  if (schedule == "warmup_cosine") {
    made.shape_ = Shape::kCosine;
  } else if (schedule == "warmup_linear") {
    made.shape_ = Shape::kLinear;
  } else if (schedule != "constant") {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `schedule`: expected constant, warmup_cosine or warmup_linear, got ", schedule));
  }
  if (made.shape_ != Shape::kConstant && made.total_ <= made.warmup_) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `total`: expected more than the warm-up of ", made.warmup_, ", got ", made.total_));
  }
  return made;
}

float LearningRate::At(int64_t at) const {
  const auto step = static_cast<double>(at);
  if (step < warmup_) return static_cast<float>(lr_ * ((step + 1) / warmup_));
  if (shape_ == Shape::kConstant) return static_cast<float>(lr_);
  const double x = std::min(1.0, (step - warmup_) / (total_ - warmup_));
  const double share = shape_ == Shape::kLinear ? 1 - x : 0.5 * (1 + std::cos(M_PI * x));
  return static_cast<float>(lr_ * (min_ratio_ + (1 - min_ratio_) * share));
}

}  // namespace weft::optimizer
