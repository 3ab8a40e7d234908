#include "tools/hugging_face/reader.h"

#include <cmath>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace weft::hugging_face {
namespace {

std::string ValueText(const Json& value) {
  if (value.is_null()) return "none";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

bool IsWhole(const Json& value) { return value.is_number_integer() && value.get<int64_t>() > 0; }

}  // namespace

std::string NumberText(double value, bool whole) {
  if (whole) return absl::StrCat(static_cast<int64_t>(value));
  std::string text;
  double again = 0;
  for (int digits = 1; digits <= 17; ++digits) {
    text = absl::StrFormat("%.*g", digits, value);
    if (absl::SimpleAtod(text, &again) && again == value) break;
  }
  // A number with a point is what a model file takes for a real one.
  const size_t end = text.find('e');
  if (text.find('.') == std::string::npos) text.insert(end == std::string::npos ? text.size() : end, ".0");
  return text;
}

std::string ValuesText(const std::vector<Json>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&text, i == 0 ? "" : " or ", ValueText(values[i]));
  return text;
}

Json ConfigReader::At(const std::string& key, const std::string& absent) {
  read_.insert(key);
  const auto it = config_.find(key);
  return it == config_.end() || it->is_null() ? Json::parse(absent) : *it;
}

double ConfigReader::Number(const std::string& key, const std::string& absent, bool whole) {
  const Json value = At(key, absent);
  if (whole ? IsWhole(value) : value.is_number() && value.get<double>() >= 0) return value.get<double>();
  Wrong(key, whole ? "a whole number above 0" : "a number of at least 0", value);
  return 0;
}

std::vector<int64_t> ConfigReader::List(const std::string& key, const std::string& absent, size_t count) {
  const Json value = At(key, absent);
  std::vector<int64_t> list;
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
    if (IsWhole(value[i])) list.push_back(value[i].get<int64_t>());
  }
  if (value.is_array() && list.size() == count && value.size() == count) return list;
  Wrong(key, absl::StrCat(count, " whole numbers above 0"), value);
  return std::vector<int64_t>(count, 0);
}

bool ConfigReader::Expect(const std::string& key, const std::string& allowed, const std::string& absent) {
  const Json value = At(key, absent);
  const Json list = Json::parse(allowed);
  for (const Json& one : list) {
    if (one == value) return true;
  }
  Wrong(key, ValuesText({list.begin(), list.end()}), value);
  return false;
}

void ConfigReader::Wrong(const std::string& key, const std::string& expected, const Json& got) {
  errors_.push_back(absl::StrCat(key, ": expected ", expected, ", got ", ValueText(got)));
}

int64_t ConfigReader::Sequence(int64_t most, int64_t usual) {
  if (seq_ <= most) return seq_ == 0 ? usual : seq_;
  errors_.push_back(absl::StrCat("--seq: expected at most the model's ", most, " positions, got ", seq_));
  return usual;
}

double SettingReader::Number(const std::string& name) {
  const auto it = settings_.find(name);
  double value = 0;
  if (it != settings_.end() && absl::SimpleAtod(it->second, &value) && std::isfinite(value)) return value;
  if (status_.ok()) {
    status_ = absl::InvalidArgumentError(absl::StrCat("model.set: ", name, ": expected a number, got ",
                                                      it == settings_.end() ? "none" : "`" + it->second + "`"));
  }
  return 0;
}

Json SettingReader::Value(const std::string& name, bool whole) {
  const double value = Number(name);
  return whole ? Json(static_cast<int64_t>(value)) : Json(value);
}

}  // namespace weft::hugging_face
