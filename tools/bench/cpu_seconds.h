// The clock of benches that count what one core does.
#ifndef WEFT_TOOLS_BENCH_CPU_SECONDS_H_
#define WEFT_TOOLS_BENCH_CPU_SECONDS_H_

#include <ctime>

namespace weft::tools {

// Seconds that the cores have worked for this process so far. Any thread; cannot fail.
inline double CpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace weft::tools

#endif  // WEFT_TOOLS_BENCH_CPU_SECONDS_H_
