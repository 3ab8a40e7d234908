// The header of a safetensors file (github.com/huggingface/safetensors, README,
// "Format"): 8 bytes, the little-endian length N of what follows; N bytes of
// JSON, from name to {"dtype", "shape", "data_offsets": [begin, end)} and
// optionally "__metadata__", from string to string; then the tensors' bytes,
// row-major and little-endian, without holes or overlaps, to the end.
#ifndef WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_HEADER_H_
#define WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"
#include "runtime/checkpoint/file.h"

namespace weft::checkpoint {

// A tensor as a file names it.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  std::vector<int64_t> shape;
};

// A tensor and where its bytes are, from the start of the file.
struct TensorEntry {
  std::string name;
  std::string type;               // as the file spells it: "F32", "BOOL"
  DType dtype = DType::kInvalid;  // kInvalid for types that Weft has no use for
  std::vector<int64_t> shape;
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const TensorEntry&) const = default;
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;  // ascending by name
  std::map<std::string, std::string> metadata;
  int64_t data_begin = 0;  // from the start of the file
  uint64_t checksum = 0;   // of the bytes before data_begin

  // The tensor of this name, or null.
  const TensorEntry* Find(const std::string& name) const;
};

// For an error: the names in these headers that end most like `name` (a wrong
// prefix is the usual reason), as "`a`, `b`, `c` and 12 more", or "no tensors".
std::string NamesLike(const std::string& name, const std::vector<const SafetensorsHeader*>& headers);

// Reads and checks the header: everything that the format says must hold, and
// that the file is exactly as long as it says. kDataLoss or kInvalidArgument,
// naming the file, the tensor and what was found. Alignment is not asked for,
// as older writers did not pad.
absl::StatusOr<SafetensorsHeader> ReadHeader(const File& file);

// A header that was laid out, and its text with length and padding.
struct SafetensorsLayout {
  SafetensorsHeader header;
  std::string text;
  int64_t file_bytes = 0;
};

// Lays tensors out as other writers do: larger element types first, then by
// name, the data beginning at a multiple of 8, so every tensor is aligned.
// kInvalidArgument for a name that is empty, reserved, not UTF-8 or there
// twice, a type without a name in the format, or a shape that overflows.
absl::StatusOr<SafetensorsLayout> LayOut(const std::string& path, const std::vector<TensorInfo>& tensors,
                                         const std::map<std::string, std::string>& metadata);

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_HEADER_H_
