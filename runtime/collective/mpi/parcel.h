// Bytes that one rank takes to another beside the steps.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_PARCEL_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_PARCEL_H_

#include "absl/types/span.h"

namespace weft::collective {

// Whoever sends it and whoever receives it know its size.
struct OutParcel {
  int to = 0;
  absl::Span<const char> bytes;
};
struct InParcel {
  int from = 0;
  absl::Span<char> bytes;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_PARCEL_H_
