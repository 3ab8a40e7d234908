// How a program of one process or several ends: what has failed is said once, by one of them, and within a time.
#ifndef WEFT_TOOLS_RUN_ENDING_H_
#define WEFT_TOOLS_RUN_ENDING_H_

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "tools/run/last_resort.h"
#include "tools/run/processes.h"

namespace weft::run {

class Ending {
 public:
  // Errors begin with the program's name.
  Ending(const char* program, std::FILE* err);

  // A step has failed. Any thread. What a lone process says it says at its end,
  // below its progress; one of several may not have the time.
  void Fault(const Processes& processes, const absl::Status& error);

  void Tell(const Processes& processes, const absl::Status& status);

  // This process is the first of several that gives up. Any thread. At once: where one process has ended, a launcher
  // may end the others at any time.
  void TellFirst(const absl::Status& reason);

  // From here on the process has to end soon.
  void Close(const absl::Status& status);

 private:
  std::string TextOf(const absl::Status& status) const;
  void Say(const absl::Status& status);

  const char* const program_;
  std::FILE* const err_;
  std::atomic<bool> told_{false};
  LastResort last_resort_;
};

// 0; 2 if the request, the plan or the data are wrong, 1 for anything else.
int ExitStatus(const absl::Status& status);

// Does `work` on the processes that a launcher has started, or on this one, and returns the exit status.
// Seconds as --hang-seconds and --lost-seconds of weft-run have them.
int OnProcesses(const char* program, int64_t hang_seconds, int64_t lost_seconds, std::FILE* err,
                const std::function<absl::Status(Processes&, Ending&)>& work);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_ENDING_H_
