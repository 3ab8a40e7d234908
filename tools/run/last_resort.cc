#include "tools/run/last_resort.h"

#include <unistd.h>

#include <utility>

namespace weft::run {

LastResort::~LastResort() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LastResort::Arm(std::function<Words()> words) {
  std::lock_guard<std::mutex> armed(mutex_);
  if (thread_.joinable() || stop_) return;
  thread_ = std::thread([this, words = std::move(words)] {
    std::unique_lock<std::mutex> lock(mutex_);
    if (wake_.wait_for(lock, grace_, [this] { return stop_; })) return;
    const Words last = words();
    if (!last.text.empty()) std::fprintf(err_, "%s\n", last.text.c_str());
    std::fflush(err_);
    _exit(last.status);  // no destructor: they would join the thread that hangs
  });
}

}  // namespace weft::run
