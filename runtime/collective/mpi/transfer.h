// Tiles that go from process to process.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_TRANSFER_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_TRANSFER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/collective/communicator.h"
#include "runtime/collective/mpi/hello.h"
#include "runtime/collective/mpi/wire.h"
#include "runtime/collective/tile_copy.h"

namespace weft::collective {

// A send to, or a receive from, one or more ranks. The first run tells the
// receivers what is sent, so that ends that differ are an error.
class MpiTransfer : public Operation {
 public:
  // Adds the memory that it takes to `staging_bytes`.
  static absl::StatusOr<std::unique_ptr<Operation>> Create(Wire* wire, bool sends, DType dtype,
                                                           const std::vector<Link>& links, int64_t& staging_bytes);
  absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) override;
  std::string Waiting() const override;

 private:
  // This rank's end of a link. Its block goes straight from or to the tile if its bytes lie together, else through
  // `staging`.
  struct End {
    int peer = 0, tag = 0, mpi_tag = 0;
    TileCopy copy;
    int64_t bytes = 0, tile_offset = 0;
    std::vector<char> staging;  // empty: none
    Hello hello, heard;
    size_t first_request = 0, requests = 0;  // of its data
  };
  MpiTransfer(Wire* wire, bool sends, std::vector<End> ends, size_t requests);
  absl::Status Perform(char* tile);
  absl::Status Start(size_t w, char* tile);
  absl::Status StartData(End& end, char* tile);
  absl::Status Ended(int index, int bytes, char* tile);
  std::string Where(const End& end) const;

  Wire& wire_;
  const bool sends_;
  std::vector<End> ends_;
  Requests requests_;        // a greeting an end, then their data
  std::vector<int> end_of_;  // a data request each
  absl::Status failure_;
  uint64_t runs_ = 0;

  // For Waiting().
  std::atomic<uint64_t> number_{0};        // 0: not running
  std::vector<std::atomic<int>> missing_;  // messages of each end
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_TRANSFER_H_
