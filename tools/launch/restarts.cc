#include "tools/launch/restarts.h"

namespace weft::launch {

std::string Restarts::WhyNot(Time now) {
  if (count_ >= most_) return "--restarts allows " + std::to_string(most_) + ", and so many were made";
  while (!within_an_hour_.empty() && now - within_an_hour_.front() >= std::chrono::hours(1))
    within_an_hour_.pop_front();
  if (static_cast<int>(within_an_hour_.size()) >= an_hour_)
    return "--restarts-per-hour allows " + std::to_string(an_hour_) + ", and so many were made within an hour";
  return "";
}

std::string Restarts::Begin(Time now) {
  if (std::string why = WhyNot(now); !why.empty()) return why;
  within_an_hour_.push_back(now);
  ++count_;
  return "";
}

}  // namespace weft::launch
