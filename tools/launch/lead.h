// Which launch leads a run, as its folder of checkpoints tells, and how another one takes its place.
#ifndef WEFT_TOOLS_LAUNCH_LEAD_H_
#define WEFT_TOOLS_LAUNCH_LEAD_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "tools/launch/remote.h"

namespace weft::launch {

// What the file `.launch` says: "node01 4711 3 128".
struct Leader {
  std::string host;
  pid_t process = 0;
  int restarts = 0;   // that have begun
  int64_t beats = 0;  // counted up while it lives
};

// How often a leader counts, and how long it may be silent: the network's file systems show others' changes late.
struct Pace {
  std::chrono::milliseconds beat{2000}, silent{15000};
};

// The leader's side. Two threads: the one that has it, and its own, which counts.
class Lead {
 public:
  // `lost`: called once, from the other thread, when the file names another launch.
  Lead(std::string folder, const std::string& host, std::function<void()> lost, Pace pace = {});
  // Ends, and removes the file unless another launch leads.
  ~Lead();
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;

  // Takes the lead: where no launch has it, from one that counts no more, for which it waits, or from `lost`, which the
  // caller knows to be lost, with its number of restarts. What stands in the way, or "".
  std::string Take(const Leader* lost);
  void SetRestarts(int restarts) { restarts_ = restarts; }

 private:
  std::string Begin();
  std::string Succeed(const Leader& lost);
  void Beat();

  const std::string path_;
  const Pace pace_;
  const std::function<void()> lost_;
  Leader self_;
  std::atomic<int> restarts_{0};
  std::atomic<bool> ends_{false};
  std::thread beats_;
};

// What a launch that stands in has waited for.
struct Loss {
  enum What : uint8_t { kEnded, kProcess, kHost };
  What what = kEnded;  // the leader, as its run has ended; or its process or its host is lost
  Leader leader;
};

// Waits for a leader, and until it ends or is lost: counts no more, and does not live, as its host says or does not
// answer.
Loss AwaitLoss(const std::string& folder, const Shell& shell, const Pace& pace = {});

// Waits until the rank has ended that has the folder of a run whose launch is lost, and removes the lock that it has
// left there: a rank of the next attempt may be on another host, where nobody can tell that it has ended. What stands
// in the way, or ""; also where its host does not answer, which makes it a lost one.
std::string AwaitEndOfRun(const std::string& folder, const Shell& shell,
                          std::chrono::milliseconds limit = std::chrono::minutes(1));

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_LEAD_H_
