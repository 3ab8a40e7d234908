// The header of a NumPy array file (.npy).
#ifndef WEFT_RUNTIME_DATA_NPY_HEADER_H_
#define WEFT_RUNTIME_DATA_NPY_HEADER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::data {

// What the header says of the array that follows it. The format is that of NumPy's "NEP 1: a simple file format for
// NumPy arrays", versions 1.0 to 3.0.
struct NpyHeader {
  std::string type;            // NumPy's word for it, as "<u2" for little-endian uint16
  bool fortran_order = false;  // the first dimension varies fastest, not the last
  std::vector<int64_t> shape;  // each >= 0; none for a scalar
  int64_t bytes = 0;           // of the header: where the array begins; a multiple of 16
};

// Whether the file begins as a .npy does.
bool IsNpy(const uint8_t* file, int64_t count);

// Reads the header of the `count` bytes of `file`, of which IsNpy holds; `path` is for errors. kDataLoss: the file ends
// inside the header, or a field of it is missing or makes no sense. kInvalidArgument: another version, or fields in
// place of one element type.
absl::StatusOr<NpyHeader> ReadNpyHeader(const std::string& path, const uint8_t* file, int64_t count);

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_NPY_HEADER_H_
