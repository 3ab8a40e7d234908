// What a file of metrics says of a run, read as it grows.
#ifndef WEFT_TOOLS_WATCH_COURSE_H_
#define WEFT_TOOLS_WATCH_COURSE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::watch {

// One number of every step that has it.
struct Series {
  std::string name;
  std::vector<std::pair<int64_t, double>> values;  // by step, ascending
};

// Takes the lines of `weft run --metrics`. One thread.
class Course {
 public:
  // Takes what was written since; the rest of a line may come with the next text. Lines that are no metrics are left
  // out.
  void Take(const std::string& text);

  // Of the last run that wrote here, by key: "host", "data".
  const std::map<std::string, std::string>& about() const { return about_; }
  const std::vector<Series>& series() const { return series_; }
  const Series* Find(const std::string& name) const;
  int64_t step() const { return step_; }  // the last one; 0: none yet
  int64_t steps() const;                  // that the run was asked for; 0: not known
  // Until the last of them, as fast as the latest steps; below 0: not known.
  double seconds_left() const;
  // The last line has a loss or a norm that is not finite.
  const std::string& broken() const { return broken_; }
  // "slow at step 300: rank 12 (host b), 1.43 x", of the last rank that was named; "" if none was.
  const std::string& slow() const { return slow_; }

 private:
  void TakeLine(const std::string& line);

  std::string rest_;
  std::map<std::string, std::string> about_;
  std::vector<Series> series_;
  int64_t step_ = 0;
  std::string broken_, slow_;
};

}  // namespace weft::watch

#endif  // WEFT_TOOLS_WATCH_COURSE_H_
