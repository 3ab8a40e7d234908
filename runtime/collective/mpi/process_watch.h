// Notices when the process of another rank on this host ends, by a descriptor of the process (pidfd_open). The loss of
// another host is noticed by heartbeat.h.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_PROCESS_WATCH_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_PROCESS_WATCH_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace weft::collective {

// Names this process to others: equal hosts mean that its number is known there.
struct ProcessName {
  std::string host;
  int process = 0;
  int board = -1;  // the descriptor of its StatusBoard

  static ProcessName Own();
  // The host as people call it.
  std::string HostName() const;
  std::string ToString() const;
  static ProcessName Parse(const std::string& text);
};

// Whether a process of this host is stopped, as by SIGSTOP.
bool IsStopped(int process);

// Watches the processes of other ranks in a thread of its own, which sleeps until one of them ends.
class ProcessWatch {
 public:
  struct Peer {
    int rank = 0;
    int process = 0;
  };
  using Lost = std::function<void(const Peer& peer)>;

  // Calls `lost` once for each peer whose process ends, or had ended before. On a
  // system that cannot watch processes nothing is ever lost.
  ProcessWatch(const std::vector<Peer>& peers, Lost lost);
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

 private:
  void Watch();

  const Lost lost_;
  std::vector<Peer> peers_;
  std::vector<int> files_;  // a process file descriptor each; -1: none
  int end_[2] = {-1, -1};   // a pipe that wakes the thread for the last time
  std::thread thread_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_PROCESS_WATCH_H_
