// MPI's point-to-point messages as Weft uses them. All operations of one MPI communicator share a Wire: it gives them
// their tags, waits for their requests, and ends every wait when a rank aborts.
//
//   MpiCollective, MpiTransfer, Rendezvous   start requests ─▶ Await() ─ they end ─▶ ended(index, bytes)
//   Heartbeat, Courier                                         │
//   a rank calls Abort(reason) ─ one notice to every rank ─────┴─▶ Await() returns the reason, on all ranks
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_WIRE_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_WIRE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/collective/mpi/library.h"

namespace weft::collective {

// kInternal with MPI's own words; OK for MPI_SUCCESS.
absl::Status MpiStatus(const char* what, int code);

// Requests that are waited for together. All memory is there when it is made.
struct Requests {
  explicit Requests(size_t count) : active(count, MPI_REQUEST_NULL), indices(count), statuses(count) {}
  // Ends what has not ended, after an error. The buffers of messages that are on
  // their way may still be read or written.
  void Abandon();

  std::vector<MPI_Request> active;
  // Scratch of Wire::Await().
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;
};

// Any thread may call it; each set of Requests belongs to one thread. Errors are kInternal with MPI's own words, or the
// reason of an abort.
class Wire {
 public:
  struct Options {
    // How often a waiting thread looks before it yields its core.
    int spins = 0;
    // The longest message; longer tensors go as several.
    int64_t message_bytes = int64_t{1} << 30;
    // Called by this rank's Abort() if it is the first, before other ranks hear of it.
    std::function<void(const absl::Status& reason)> on_abort = {};
  };

  // Duplicates `parent`, whose ranks all do so. MPI allows calls from any thread.
  static absl::StatusOr<std::unique_ptr<Wire>> Create(MPI_Comm parent, const Options& options);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  int64_t message_bytes() const { return options_.message_bytes; }

  // Tags: of Rendezvous, of Heartbeat, of Courier, of a group's channel, of a transfer.
  // kInvalidArgument if MPI has no tag so high.
  static constexpr int kRendezvousTag = 1, kHeartbeatTag = 2, kParcelTag = 3;
  absl::StatusOr<int> ChannelTag(int channel) const { return TagOf("channel", channel, 0); }
  absl::StatusOr<int> TransferTag(int transfer) const { return TagOf("transfer", transfer, 1); }

  // A thread that waits: when the other side is still to come it soon sleeps
  // between looks; when data is on its way it only yields.
  enum class Patience { kForPeers, kForData };

  // Waits until all requests have ended. `ended(index, bytes)` is told of each
  // and may start others in `requests`; its error ends the wait, as do an abort
  // and the deadline. After an error some requests have not ended.
  using Ended = absl::FunctionRef<absl::Status(int index, int bytes)>;
  using Deadline = std::chrono::steady_clock::time_point;
  absl::Status Await(Requests& requests, absl::FunctionRef<Patience()> patience, Ended ended,
                     Deadline deadline = Deadline::max());

  // As Communicator::Abort(): the first reason stays, and goes to all ranks.
  void Abort(const absl::Status& reason);
  // True after an abort, on this rank or another.
  bool stopped();
  absl::Status reason() const;
  // The rank that aborted first, as far as this one knows; -1: none.
  int stopped_by() const;

 private:
  struct Notice;
  Wire(MPI_Comm comm, const Options& options);
  absl::StatusOr<int> TagOf(const char* what, int number, int odd) const;
  bool Stop(const absl::Status& reason, int by);
  void Listen();

  const MPI_Comm comm_;
  const Options options_;
  int rank_ = 0, size_ = 1;
  int highest_tag_ = 0;

  std::atomic<bool> stopped_{false};
  mutable std::mutex reason_mutex_;
  absl::Status reason_;
  int by_ = -1;
  // The notice of an abort elsewhere, looked at by one thread at a time.
  std::mutex notice_mutex_;
  std::unique_ptr<Notice> notice_, sent_;
  MPI_Request notice_request_ = MPI_REQUEST_NULL;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_WIRE_H_
