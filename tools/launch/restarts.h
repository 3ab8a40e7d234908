// How often a run may begin again that has lost a rank.
#ifndef WEFT_TOOLS_LAUNCH_RESTARTS_H_
#define WEFT_TOOLS_LAUNCH_RESTARTS_H_

#include <chrono>
#include <deque>
#include <string>

namespace weft::launch {

class Restarts {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // At most `most` in all, and at most `an_hour` within any hour. `begun`: before, of the `most`.
  Restarts(int most, int an_hour, int begun = 0) : most_(most), an_hour_(an_hour), count_(begun) {}

  // One more, now: "", and it counts; or why not, for people.
  std::string Begin(Time now);
  // Whether Begin() would count one more.
  bool MayBegin(Time now) { return WhyNot(now).empty(); }
  // How many have begun.
  int count() const { return count_; }

 private:
  // What stands in the way of one more, for people, or "".
  std::string WhyNot(Time now);

  int most_, an_hour_;
  int count_;
  std::deque<Time> within_an_hour_;  // the oldest first
};

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_RESTARTS_H_
