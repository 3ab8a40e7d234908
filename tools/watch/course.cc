#include "tools/watch/course.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"

namespace weft::watch {
namespace {

constexpr size_t kLatest = 20;  // steps that say how fast a run is

std::string SlowText(const nlohmann::ordered_json& slow) {
  return absl::StrFormat("slow at step %d: rank %d (host %s), %.2f x", slow.value("step", int64_t{0}),
                         slow.value("rank", int64_t{0}), slow.value("host", std::string("unknown")),
                         slow.value("times", 0.0));
}

}  // namespace

void Course::Take(const std::string& text) {
  rest_ += text;
  size_t begin = 0;
  for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    TakeLine(rest_.substr(begin, end - begin));
    begin = end + 1;
  }
  rest_.erase(0, begin);
}

void Course::TakeLine(const std::string& line) {
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return;
  if (json.contains("run") && json["run"].is_object()) {
    about_.clear();
    slow_.clear();
    for (const auto& [key, value] : json["run"].items()) {
      if (value.is_string()) about_[key] = value.get<std::string>();
    }
    return;
  }
  if (json.contains("slow_rank") && json["slow_rank"].is_object()) slow_ = SlowText(json["slow_rank"]);
  if (!json.contains("step") || !json["step"].is_number_integer()) return;
  step_ = std::max(step_, json["step"].get<int64_t>());
  broken_.clear();
  for (const auto& [key, value] : json.items()) {
    if (value.is_null() && (key == "loss" || key == "grad_norm")) broken_ = key;
    if (key == "step" || !value.is_number()) continue;
    auto it = std::find_if(series_.begin(), series_.end(), [&](const Series& one) { return one.name == key; });
    if (it == series_.end()) it = series_.insert(it, {key, {}});
    it->values.emplace_back(json["step"].get<int64_t>(), value.get<double>());
  }
}

const Series* Course::Find(const std::string& name) const {
  const auto it = std::find_if(series_.begin(), series_.end(), [&](const Series& one) { return one.name == name; });
  return it == series_.end() ? nullptr : &*it;
}

int64_t Course::steps() const {
  const auto it = about_.find("steps");
  return it == about_.end() ? 0 : std::atoll(it->second.c_str());
}

double Course::seconds_left() const {
  const Series *tokens = Find("tokens"), *speed = Find("tokens_per_s");
  if (steps() == 0 || tokens == nullptr || speed == nullptr) return -1;
  double seconds = 0;
  const size_t count = std::min({kLatest, tokens->values.size(), speed->values.size()});
  for (size_t i = 1; i <= count; ++i) {
    const double rate = speed->values[speed->values.size() - i].second;
    if (rate <= 0) return -1;
    seconds += tokens->values[tokens->values.size() - i].second / rate;
  }
  return seconds / static_cast<double>(count) * static_cast<double>(std::max<int64_t>(steps() - step_, 0));
}

}  // namespace weft::watch
