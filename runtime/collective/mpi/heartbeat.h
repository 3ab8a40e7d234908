// Notices when another host falls silent: small MPI messages, a few a second, from the ranks of each host to those of
// the next. (peers.h notices the end of a process on the same host.)
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

// Whom a rank tells that it lives, and of whom it hears it. Hosts stand in a
// ring, and every rank of a host hears two of the host before it: one that is
// stopped is not taken for a host that is lost. Each rank has few messages,
// however many ranks there are.
struct HeartbeatPeers {
  std::vector<int> to, from;
  int turn = 0;  // among those that hear of the same host

  // `hosts` names the host of each rank. None of either if all have one host.
  static HeartbeatPeers Of(const std::vector<std::string>& hosts, int rank);
};

// Sends a board's words now and then, in a thread of its own, from Start() until
// Stop().
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
