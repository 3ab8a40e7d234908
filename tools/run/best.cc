#include "tools/run/best.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft::run {
namespace {

constexpr char kOf[] = "best_of";
constexpr char kStep[] = "best_step";
constexpr char kValue[] = "best_value";
constexpr char kSince[] = "evaluations_since_best";

std::string ValueOf(const Record& record, const char* key) {
  const auto found = record.find(key);
  return found == record.end() ? "" : found->second;
}

}  // namespace

bool Best::Take(int64_t step, double value) {
  if (rule_.metric.empty()) return false;
  if (std::isnan(value) || (step_ >= 0 && !IsBetter(value, value_))) {
    ++since_;
    return false;
  }
  step_ = step;
  value_ = value;
  since_ = 0;
  return true;
}

std::string Best::Text() const { return absl::StrFormat("%s %.6g after step %d", rule_.metric, value_, step_); }

std::string Best::End() const {
  if (step_ >= 0 && rule_.stop_at.has_value() && !IsBetter(*rule_.stop_at, value_)) {
    return absl::StrFormat("%s, which is %.6g or %s", Text(), *rule_.stop_at, rule_.largest ? "more" : "less");
  }
  if (rule_.patience == 0 || since_ < rule_.patience) return "";
  return absl::StrCat(
      since_, since_ == 1 ? " evaluation" : " evaluations in a row",
      step_ < 0 ? absl::StrCat(" without a number for ", rule_.metric) : absl::StrCat(" no better than ", Text()));
}

void Best::AddTo(Record& record) const {
  if (rule_.metric.empty()) return;
  record[kOf] = rule_.of;
  record[kStep] = absl::StrCat(step_);
  record[kValue] = absl::StrFormat("%.17g", value_);
  record[kSince] = absl::StrCat(since_);
}

bool Best::Read(const Record& record) {
  int64_t step = -1, since = 0;
  double value = 0;
  const bool is_whole = absl::SimpleAtoi(ValueOf(record, kStep), &step) &&
                        absl::SimpleAtoi(ValueOf(record, kSince), &since) &&
                        absl::SimpleAtod(ValueOf(record, kValue), &value);
  if (rule_.metric.empty() || !is_whole || ValueOf(record, kOf) != rule_.of) return false;
  step_ = step;
  value_ = value;
  since_ = since;
  return true;
}

}  // namespace weft::run
