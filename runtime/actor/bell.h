// Where a thread waits for what other threads do.
#ifndef WEFT_RUNTIME_ACTOR_BELL_H_
#define WEFT_RUNTIME_ACTOR_BELL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace weft::actor {

// Any number of threads may wait and ring. A ring costs two atomic operations
// when nobody sleeps; a waiter looks a few times before it sleeps.
class Bell {
 public:
  // `spins`: how often a waiter looks before it sleeps; 0 where threads
  // outnumber cores.
  explicit Bell(int spins = 0) : spins_(spins) {}
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // Makes every waiter look again. What the caller stored before is seen.
  void Ring() {
    rings_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
    std::lock_guard<std::mutex> lock(mutex_);
    wake_.notify_all();
  }

  // Returns once `ready()` is true; it is asked again after every ring. Does
  // not allocate.
  template <typename Ready>
  void Wait(Ready&& ready) {
    for (int i = 0; i < spins_; ++i) {
      if (ready()) return;
      Pause();
    }
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
  static void Pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  const int spins_;
  alignas(64) std::atomic<uint32_t> rings_{0};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_BELL_H_
