// Notices when another host falls silent: small MPI messages, a few a second, from the ranks of each host to those of
// the next. The end of a process on the same host is noticed by process_watch.h.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_HEARTBEAT_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_HEARTBEAT_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weft::collective {

class Wire;

// Whom a rank sends heartbeats to, and whose it expects.
//
//   host a {0, 1} ─▶ host b {2, 3} ─▶ host c {4, 5} ─▶ host a
//
// Hosts form a ring. Every rank expects heartbeats of two ranks of the host before its own: if one of the two is
// stopped, the other still speaks for the host. So each rank has few messages, however many ranks there are.
struct HeartbeatPeers {
  std::vector<int> to, from;
  int turn = 0;  // among those that hear of the same host

  // `hosts` names the host of each rank. None of either if all have one host.
  static HeartbeatPeers Of(const std::vector<std::string>& hosts, int rank);
};

// Sends the words of this rank's StatusBoard a few times a second, in a thread of its own, from Start() until Stop().
class Heartbeat {
 public:
  // Calls `silent` once, by the thread, when nothing was heard of any of
  // `peers.from` for `time_out`. What a process misses because it was itself
  // stopped or starved does not count.
  Heartbeat(Wire* wire, const HeartbeatPeers& peers, const std::atomic<int64_t>* board,
            std::chrono::milliseconds time_out, std::function<void()> silent);
  // A rank that it sends to listens no more, or is lost.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void Start();
  void Stop();

  // The board of a rank, as it was heard last; empty if nothing was. Any thread.
  std::vector<int64_t> BoardOf(int rank) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Messages;
  void Run();
  void Send();
  bool Hear();

  Wire& wire_;
  const HeartbeatPeers peers_;
  const std::atomic<int64_t>* const board_;
  const Clock::duration time_out_;
  const std::function<void()> silent_;
  std::unique_ptr<Messages> messages_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  bool stop_ = false;
  std::vector<std::vector<int64_t>> heard_;  // of each of `from`
  std::thread thread_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_HEARTBEAT_H_
