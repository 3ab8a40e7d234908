// Where a thread waits for what other threads of the process do: streams for acts of other
// streams, ranks in one process for each other's tiles, and kernels for the threads that they share.
//
// A waiter looks for a while, then sleeps. To look is cheap where the thread has a core for itself: it
// hears at once, where a sleeper takes some 30 microseconds to wake. Where other work wants the core,
// looking keeps from it the very thread that is waited for. So a looker yields its core now and then, and
// sleeps at once when it got the core back late.
#ifndef WEFT_OPS_ABI_BELL_H_
#define WEFT_OPS_ABI_BELL_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace weft {

// Any number of threads may wait and ring. A ring costs two atomic operations when nobody sleeps.
// Does not allocate and cannot fail.
class Bell {
 public:
  // `looks`: how often a waiter looks before it sleeps, some 25 nanoseconds each (200: 5 microseconds).
  explicit Bell(int looks = 0) : looks_(looks) {}
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // Makes every waiter look again. What the caller stored before is seen.
  void Ring() {
    rings_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
    std::lock_guard<std::mutex> lock(mutex_);
    wake_.notify_all();
  }

  // Returns once `ready()` is true; it is asked again after every ring.
  template <typename Ready>
  void Wait(Ready&& ready) {
    if (Look(ready)) return;
    while (true) {
      const uint32_t heard = rings_.load(std::memory_order_seq_cst);
      if (ready()) return;
      std::unique_lock<std::mutex> lock(mutex_);
      // Either the ringer sees the sleeper, or the sleeper sees the ring: both
      // write before they read, in one total order.
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      wake_.wait(lock, [&] { return rings_.load(std::memory_order_seq_cst) != heard; });
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

 private:
  // Looks between two yields: some microseconds, beside which a yield is cheap.
  static constexpr int kLooksAYield = 50;
  // These looks and the yield take 2 microseconds on a core of its own. After so long, other work has had the core.
  static constexpr std::chrono::microseconds kLate{100};
  // Waits that then sleep at once: a look that keeps the core from others for 2 of its 100 microseconds.
  static constexpr int kWaitsAsleep = 16;

  // False: it is time to sleep.
  template <typename Ready>
  bool Look(Ready& ready) {
    if (asleep_.load(std::memory_order_relaxed) > 0) {
      asleep_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    for (int left = looks_; left > 0; left -= kLooksAYield) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < std::min(left, kLooksAYield); ++i) {
        if (ready()) return true;
        Pause();
      }
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() - begin < kLate) continue;
      asleep_.store(kWaitsAsleep, std::memory_order_relaxed);
      return false;
    }
    return false;
  }

  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  const int looks_;
  std::atomic<int> asleep_{0};  // waits that are not to look
  alignas(64) std::atomic<uint32_t> rings_{0};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_BELL_H_
