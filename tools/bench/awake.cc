// awake: keeps every core busy with what gives way to anything else, until it is killed. A host takes an idle core away
// from a virtual machine, and for a while after it is wanted again two cores may be the threads of one; so a program
// whose ranks wait for each other would be measured on another machine than one whose ranks do not.
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void Spin(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  const sched_param none = {};
  if (sched_setaffinity(0, sizeof cores, &cores) != 0 || sched_setscheduler(0, SCHED_IDLE, &none) != 0) {
    std::perror("awake");
    std::_Exit(1);
  }
  while (true) Pause();
}

}  // namespace

int main() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) {
    std::perror("awake");
    return 1;
  }
  std::vector<std::thread> threads;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores)) threads.emplace_back(Spin, core);
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}
