#include "runtime/actor/watchdog.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace weft::actor {

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::Start() {
  thread_ = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, Interval(timeout_), [this] { return stop_; })) {
      lock.unlock();
      const bool raised = Check(Clock::now());
      lock.lock();
      if (raised) return;
    }
  });
}

bool Watchdog::Check(Clock::time_point now) {
  uint64_t acts = 0;
  std::vector<std::string> busy;
  for (const RankProgram* program : programs_) {
    acts += program->acts();
    for (std::string& line : program->Describe()) busy.push_back(std::move(line));
  }
  if (busy.empty() || idle_ || acts != acts_ || busy != busy_) {
    idle_ = busy.empty();
    busy_ = std::move(busy);
    acts_ = acts;
    moved_ = now;
    return false;
  }
  if (now - moved_ < timeout_ || fault_->raised()) return false;
  std::string known = elsewhere_ ? elsewhere_() : "";
  if (known.empty() && now - moved_ < timeout_ + grace_) return false;
  if (!known.empty()) known += "; ";
  const double seconds = std::chrono::duration<double>(now - moved_).count();
  fault_->Raise(absl::DeadlineExceededError(absl::StrCat("nothing has moved for ", absl::StrFormat("%.3g", seconds),
                                                         " s: ", known, absl::StrJoin(busy, "; "))));
  return true;
}

}  // namespace weft::actor
