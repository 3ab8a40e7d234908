// The end of a process that has failed but does not end.
#ifndef WEFT_TOOLS_RUN_LAST_RESORT_H_
#define WEFT_TOOLS_RUN_LAST_RESORT_H_

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace weft::run {

// An act that hangs in a kernel or a data source keeps its thread, and whoever
// joins it, for ever; no error can be returned past it. Once armed, this ends the
// process when it has not ended by itself within the grace.
class LastResort {
 public:
  // What to print, if anything, and the exit status.
  struct Words {
    std::string text;
    int status = 1;
  };

  LastResort(std::FILE* err, std::chrono::milliseconds grace) : err_(err), grace_(grace) {}
  ~LastResort();
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

  // Starts the countdown; `words` is called at its end. Only the first call
  // counts. Any thread.
  void Arm(std::function<Words()> words);

 private:
  std::FILE* const err_;
  const std::chrono::milliseconds grace_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_LAST_RESORT_H_
