// Hosts that were lost and answer again, and hosts that do not answer.
#ifndef WEFT_TOOLS_LAUNCH_RETURNS_H_
#define WEFT_TOOLS_LAUNCH_RETURNS_H_

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/launch/remote.h"

namespace weft::launch {

// One thread.
class Returns {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A host is back when it has run `command` well, twice in a row; it is asked every so often, 0:
  // never.
  Returns(std::vector<std::string> command, Shell shell, std::chrono::seconds every)
      : command_(std::move(command)), shell_(std::move(shell)), every_(every) {}
  ~Returns();
  Returns(const Returns&) = delete;
  Returns& operator=(const Returns&) = delete;

  // Asks those of `lost` whose turn it is, for the first time when `every` has passed since it heard of them, and hears
  // what they answer. Does not wait. Those that are back, each once.
  std::vector<std::string> Look(const std::vector<std::string>& lost, Time now);

 private:
  struct Asked {
    Time at;
    pid_t process = 0;  // 0: none runs
    int answers = 0;    // in a row
  };

  // What became of the question, if anything did yet.
  void Hear(Asked& asked, Time now) const;

  const std::vector<std::string> command_;
  const Shell shell_;
  const std::chrono::seconds every_;
  std::map<std::string, Asked> asked_;
};

// A host that has not run a command well.
struct Unfit {
  std::string host;
  bool answers = false;  // it has run there
};

// Those of `hosts` that have not run `command` well within ten seconds. All are asked at once.
std::vector<Unfit> UnfitOf(const std::vector<std::string>& hosts, const std::vector<std::string>& command,
                           const Shell& shell, Output output);

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_RETURNS_H_
