#include "ops/optimizer/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "ops/abi/match_spec.h"

namespace weft::optimizer {

LearningRate::Share LearningRate::Find(const std::string& schedule, std::string* known) {
  constexpr std::pair<const char*, Share> kShapes[] = {
      {"constant", &LearningRate::Constant},
      {"warmup_cosine", &LearningRate::Cosine},
      {"warmup_linear", &LearningRate::Linear},
      {"inverse_sqrt", &LearningRate::InverseSqrt},
      {"polynomial", &LearningRate::Polynomial},
      {"step", &LearningRate::Steps},
      {"warmup_stable_decay", &LearningRate::StableDecay},
      {"cosine_restarts", &LearningRate::Restarts},
      {"count", &LearningRate::Count},
  };
  for (const auto& [name, share] : kShapes) {
    if (schedule == name) return share;
    absl::StrAppend(known, known->empty() ? "" : ", ", name);
  }
  return nullptr;
}

absl::StatusOr<LearningRate> LearningRate::Create(const KernelSpec& spec) {
  LearningRate made;
  WEFT_ASSIGN_OR_RETURN(made.lr_, spec.attributes.Float("lr"));
  const std::pair<const char*, double LearningRate::*> numbers[] = {
      {"warmup", &LearningRate::warmup_}, {"total", &LearningRate::total_},   {"min_ratio", &LearningRate::min_ratio_},
      {"power", &LearningRate::power_},   {"factor", &LearningRate::factor_}, {"every", &LearningRate::every_},
      {"decay", &LearningRate::decay_},   {"period", &LearningRate::period_}, {"growth", &LearningRate::growth_}};
  for (const auto& [name, number] : numbers) {
    WEFT_ASSIGN_OR_RETURN(made.*number, FloatAttribute(spec, name, made.*number));
  }
  if (spec.attributes.Has("milestones")) {
    WEFT_ASSIGN_OR_RETURN(made.milestones_, spec.attributes.Ints("milestones"));
  }
  WEFT_ASSIGN_OR_RETURN(const std::string schedule, spec.attributes.String("schedule"));
  std::string known;
  made.share_ = Find(schedule, &known);
  if (made.share_ == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `schedule`: expected one of ", known, ", got ", schedule));
  }
  const auto is = [&](Share share) { return made.share_ == share; };
  const bool ends = is(&LearningRate::Cosine) || is(&LearningRate::Linear) || is(&LearningRate::Polynomial) ||
                    is(&LearningRate::StableDecay);
  if (ends && made.total_ <= made.warmup_) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `total`: expected more than the warm-up of ", made.warmup_, ", got ", made.total_));
  }
  // What is divided by.
  const std::pair<const char*, double> least[] = {
      {"decay", is(&LearningRate::StableDecay) ? made.decay_ : 1},
      {"period", is(&LearningRate::Restarts) ? made.period_ : 1},
      {"growth", made.growth_},
      {"every", is(&LearningRate::Steps) && made.milestones_.empty() ? made.every_ : 1}};
  for (const auto& [name, number] : least) {
    if (!(number >= 1)) {
      return absl::InvalidArgumentError(absl::StrCat("attribute `", name, "`: expected 1 or more, got ", number));
    }
  }
  return made;
}

float LearningRate::At(int64_t at) const {
  const auto step = static_cast<double>(at);
  const bool warms = step < warmup_ && share_ != &LearningRate::Count;
  return static_cast<float>(lr_ * (warms ? (step + 1) / warmup_ : (this->*share_)(step)));
}

double LearningRate::Done(double step) const { return std::min(1.0, (step - warmup_) / (total_ - warmup_)); }

double LearningRate::Cosine(double step) const { return Above(0.5 * (1 + std::cos(M_PI * Done(step)))); }

double LearningRate::Linear(double step) const { return Above(1 - Done(step)); }

double LearningRate::InverseSqrt(double step) const { return std::sqrt(std::max(warmup_, 1.0) / (step + 1)); }

double LearningRate::Polynomial(double step) const { return Above(std::pow(1 - Done(step), power_)); }

double LearningRate::Steps(double step) const {
  const double passed = milestones_.empty() ? std::floor(step / every_)
                                            : static_cast<double>(std::count_if(milestones_.begin(), milestones_.end(),
                                                                                [&](int64_t m) { return m <= step; }));
  return std::pow(factor_, passed);
}

double LearningRate::StableDecay(double step) const {
  return Above(1 - std::clamp((step - (total_ - decay_)) / decay_, 0.0, 1.0));
}

double LearningRate::Restarts(double step) const {
  double begin = warmup_, period = period_;
  if (growth_ == 1) {
    begin += std::floor((step - begin) / period) * period;
  }
  while (step - begin >= period) {
    begin += period;
    period *= growth_;
  }
  return Above(0.5 * (1 + std::cos(M_PI * ((step - begin) / period))));
}

}  // namespace weft::optimizer
