#include "tools/run/interrupts.h"

#include <atomic>
#include <cstdint>
#include <ctime>
#include <iterator>

namespace weft::run {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

// The handler runs on any thread.
std::atomic<int> strongest{0};
static_assert(std::atomic<int>::is_always_lock_free);

// When the first signal came that asked to terminate; 0: none has.
std::atomic<int64_t> terminate_ns{0};
static_assert(std::atomic<int64_t>::is_always_lock_free);
constexpr int64_t kAgainNs = 1'000'000'000;

int64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

void Handle(int signal) {
  const Stop stop = signal == SIGINT || signal == SIGUSR2 ? Stop::kInterrupt : Stop::kTerminate;
  if (stop == Stop::kTerminate) {
    const int64_t now = NowNs();
    int64_t first = 0;
    if (!terminate_ns.compare_exchange_strong(first, now) && now - first > kAgainNs) {
      std::signal(signal, SIG_DFL);
      raise(signal);  // comes when this returns
    }
  }
  if (static_cast<int>(stop) > strongest) strongest = static_cast<int>(stop);
}

}  // namespace

Interrupts::Interrupts(bool launched) {
  static_assert(std::size(kSignals) == 4);
  strongest = 0;
  terminate_ns = 0;
  for (int i = 0; i < 4; ++i) {
    sigaction(kSignals[i], nullptr, &old_[i]);
    if (i >= 2 && !launched) continue;
    struct sigaction action = {};
    action.sa_handler = Handle;
    // A person who is impatient means it.
    action.sa_flags = kSignals[i] == SIGINT ? SA_RESETHAND | SA_RESTART : SA_RESTART;
    sigaction(kSignals[i], &action, nullptr);
  }
}

Interrupts::~Interrupts() {
  for (int i = 0; i < 4; ++i) sigaction(kSignals[i], &old_[i], nullptr);
}

Stop Interrupts::asked() { return static_cast<Stop>(strongest.load()); }

}  // namespace weft::run
