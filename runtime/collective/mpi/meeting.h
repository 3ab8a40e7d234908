// Gathers of a few bytes from all processes of an MPI world, outside of training steps: start, agreement on an error,
// metrics, the end. Each names who has not come.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_MEETING_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_MEETING_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/collective/mpi/wire.h"

namespace weft::collective {

// One thread; Waiting() by any. All ranks hold the same meetings in the same order.
class Meetings {
 public:
  Meetings(Wire* wire, std::chrono::milliseconds time_out);

  // Rank 0 collects everybody's bytes and gives them to all. kFailedPrecondition
  // if another rank holds another meeting, kDeadlineExceeded if one stays away.
  absl::StatusOr<std::vector<std::string>> Hold(const char* kind, const std::string& bytes);

  // "all_gather #3; rank 7 has not come".
  std::string Waiting() const;

 private:
  struct Header {
    uint64_t number = 0;
    uint64_t bytes = 0;
    char kind[16] = "";
  };
  absl::Status Collect(std::vector<std::string>& all);
  absl::Status Distribute(std::string& all);
  absl::Status Check(const Header& header, int rank) const;
  absl::Status Await(Requests& requests, Wire::Ended ended);
  absl::Status Transmit(bool send, void* bytes, size_t size, int rank, MPI_Request* request);

  Wire& wire_;
  const std::chrono::milliseconds time_out_;
  Wire::Deadline deadline_;
  Header mine_;
  std::vector<Header> headers_;             // by rank
  std::atomic<const char*> kind_{nullptr};  // null: no meeting
  std::atomic<uint64_t> number_{0};
  std::vector<std::atomic<bool>> come_;  // by rank
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_MEETING_H_
