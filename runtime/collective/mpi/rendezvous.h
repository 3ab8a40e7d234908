// Rendezvous of all processes of an MPI world, outside of a step's acts: start, agreement on an error, metrics, the
// end.
//
//   rank 0   collects everybody's bytes ─▶ sends all of them to everybody
//   others   send theirs to rank 0      ─▶ receive all
//
// A few kilobytes each. MPI's own all-gather would do the same, but could neither be left nor say who is missing.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_RENDEZVOUS_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_RENDEZVOUS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/collective/mpi/wire.h"

namespace weft::collective {

// Used by one thread, but Waiting() by any. All ranks hold the same rendezvous in the same order.
class Rendezvous {
 public:
  Rendezvous(Wire* wire, std::chrono::milliseconds time_out);

  // Gives `bytes`, and returns those of all, by rank. kFailedPrecondition if another rank holds one of another kind,
  // kDeadlineExceeded if one stays away.
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
  std::atomic<const char*> kind_{nullptr};  // null: none is held
  std::atomic<uint64_t> number_{0};
  std::vector<std::atomic<bool>> come_;  // by rank
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_RENDEZVOUS_H_
