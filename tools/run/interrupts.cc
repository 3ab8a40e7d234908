#include "tools/run/interrupts.h"

#include <atomic>
#include <iterator>

namespace weft::run {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

// The handler runs on any thread.
std::atomic<int> strongest{0};
static_assert(std::atomic<int>::is_always_lock_free);

void Handle(int signal) {
  const Stop stop = signal == SIGINT || signal == SIGUSR2 ? Stop::kInterrupt : Stop::kTerminate;
  if (static_cast<int>(stop) > strongest) strongest = static_cast<int>(stop);
}

}  // namespace

Interrupts::Interrupts(bool launched) {
  static_assert(std::size(kSignals) == 4);
  strongest = 0;
  for (int i = 0; i < 4; ++i) {
    sigaction(kSignals[i], nullptr, &old_[i]);
    if (i >= 2 && !launched) continue;
    struct sigaction action = {};
    action.sa_handler = Handle;
    // Who stops a group of processes may reach one of them twice, but a person
    // who is impatient means it.
    action.sa_flags = kSignals[i] == SIGINT ? SA_RESETHAND | SA_RESTART : SA_RESTART;
    sigaction(kSignals[i], &action, nullptr);
  }
}

Interrupts::~Interrupts() {
  for (int i = 0; i < 4; ++i) sigaction(kSignals[i], &old_[i], nullptr);
}

Stop Interrupts::asked() { return static_cast<Stop>(strongest.load()); }

}  // namespace weft::run
