// Reading named tensors, whole or tile by tile, from a safetensors file.
#ifndef WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_READER_H_
#define WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/safetensors_header.h"

namespace weft::checkpoint {

// What Read does when the file's element type is not the one asked for.
enum class Conversion {
  kNone,   // refuses
  kWiden,  // bf16 and f16 become f32, exactly; refuses anything else
};

// Owns the open file and reads only what is asked for. Immutable: any thread
// may call.
class SafetensorsReader {
 public:
  // Reads and checks the header, see ReadHeader.
  static absl::StatusOr<std::unique_ptr<const SafetensorsReader>> Open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const SafetensorsHeader& header() const { return header_; }

  // The tensor called `name` or, if there is none, with the first of the
  // prefixes before it that gives a name in the file. kNotFound lists names
  // that the file does have.
  absl::StatusOr<const TensorEntry*> Find(const std::string& name, const std::vector<std::string>& prefixes = {}) const;

  // Reads the tile `spec` of a tensor of the file, which must have the shape
  // `stored_shape`: spec.global_dims, or other dims for the same row-major
  // bytes. `out` has spec.bytes() bytes. kInvalidArgument for another shape or
  // type, naming file and tensor.
  absl::Status Read(const TensorEntry& entry, const TensorSpec& spec, const std::vector<int64_t>& stored_shape,
                    Conversion conversion, void* out) const;

  // The checksum of a whole tensor, read in pieces.
  absl::StatusOr<uint64_t> ChecksumOf(const TensorEntry& entry) const;

 private:
  SafetensorsReader(File file, SafetensorsHeader header) : file_(std::move(file)), header_(std::move(header)) {}
  absl::Status ReadRun(const TensorEntry& entry, int64_t index, int64_t count, char* out) const;
  absl::Status ReadWidened(const TensorEntry& entry, int64_t index, int64_t count, float* out) const;

  const File file_;
  const SafetensorsHeader header_;
};

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_READER_H_
