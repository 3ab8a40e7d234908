// What signals ask of a training run.
#ifndef WEFT_TOOLS_RUN_INTERRUPTS_H_
#define WEFT_TOOLS_RUN_INTERRUPTS_H_

#include <csignal>

namespace weft::run {

// In the order of their weight: of what several processes were asked, the
// heaviest counts.
enum class Stop {
  kNo = 0,
  kTerminate = 1,  // finish the step, save, and it is well: SIGTERM
  kInterrupt = 2,  // the same, but the run was not to end: SIGINT
};

// Catches the signals while it lives. A second SIGINT ends the process, and so does a SIGTERM (or SIGUSR1) that comes
// more than a second after the first: who stops a group of processes may reach one of them twice at once.
class Interrupts {
 public:
  // `launched`: SIGUSR1 and SIGUSR2 mean SIGTERM and SIGINT, as mpirun hands
  // those on, and ends the ranks for the others.
  explicit Interrupts(bool launched);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // What was asked of this process so far.
  static Stop asked();

 private:
  struct sigaction old_[4];
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_INTERRUPTS_H_
