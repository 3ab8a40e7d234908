// Streams and events of an emulated GPU.
#ifndef WEFT_TESTS_EMULATION_CUDA_STREAM_H_
#define WEFT_TESTS_EMULATION_CUDA_STREAM_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace weft::cuda {

// Points are numbered: the host notes a recording at once, the GPU reaches it later.
class EmulatedEvent {
 public:
  int64_t Note() {
    std::lock_guard<std::mutex> lock(mutex_);
    return ++noted_;
  }
  int64_t noted() {
    std::lock_guard<std::mutex> lock(mutex_);
    return noted_;
  }
  int64_t reached() {
    std::lock_guard<std::mutex> lock(mutex_);
    return reached_;
  }
  void Reach(int64_t point, double milliseconds) {
    std::lock_guard<std::mutex> lock(mutex_);
    reached_ = point;
    milliseconds_ = milliseconds;
    changed_.notify_all();
  }
  // Of the stream's time when it was reached last.
  double milliseconds() {
    std::lock_guard<std::mutex> lock(mutex_);
    return milliseconds_;
  }
  void Await(int64_t point) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= point; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t noted_ = 0;
  int64_t reached_ = 0;
  double milliseconds_ = 0;
};

// Does work in order, on a thread of its own, each piece after a delay.
class EmulatedStream {
 public:
  EmulatedStream(uint64_t seed, int most_delay_us)
      : random_(seed), most_delay_us_(most_delay_us), thread_([this] { Loop(); }) {}
  ~EmulatedStream() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void Add(std::function<void()> work) {
    std::lock_guard<std::mutex> lock(mutex_);
    work_.push_back(std::move(work));
    changed_.notify_all();
  }
  void Drain() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return work_.empty(); });
  }

  // The GPU's time that work has taken; on the stream's thread.
  void Spend(double milliseconds) { milliseconds_ += milliseconds; }
  double milliseconds() const { return milliseconds_; }

 private:
  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !work_.empty() || stop_; });
      if (work_.empty()) return;
      lock.unlock();
      random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
      const int delay = static_cast<int>((random_ >> 33) % static_cast<uint64_t>(most_delay_us_ + 1));
      if (delay > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay));
      work_.front()();  // references into a deque survive push_back
      lock.lock();
      work_.pop_front();
      changed_.notify_all();
    }
  }

  uint64_t random_;
  const int most_delay_us_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool stop_ = false;
  double milliseconds_ = 0;
  std::thread thread_;
};

}  // namespace weft::cuda

#endif  // WEFT_TESTS_EMULATION_CUDA_STREAM_H_
