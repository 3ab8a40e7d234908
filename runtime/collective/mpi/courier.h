// Takes parcels from rank to rank while steps go on: piece by piece, a piece at a time to or from each rank, so that
// the messages of steps find their way between.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_COURIER_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_COURIER_H_

#include <chrono>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "runtime/collective/mpi/parcel.h"
#include "runtime/collective/mpi/wire.h"

namespace weft::collective {

class Courier {
 public:
  // `time_out`: the longest that a piece may take; 0: for ever.
  Courier(Wire* wire, std::chrono::milliseconds time_out) : wire_(*wire), time_out_(time_out) {}

  // Returns when all have gone and come. Of several parcels between two ranks both list them in one order. `given_up`
  // is asked while it waits: kCancelled once it is true. kDeadlineExceeded names whose piece has not come or gone; an
  // abort of the world ends it too. After an error the parcels hold anything. One thread at a time, any.
  absl::Status Carry(const std::vector<OutParcel>& out, const std::vector<InParcel>& in,
                     const std::function<bool()>& given_up);

 private:
  Wire& wire_;
  const std::chrono::milliseconds time_out_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_COURIER_H_
