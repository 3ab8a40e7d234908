// What a checkpoint says about itself: manifest.json.
#ifndef WEFT_RUNTIME_CHECKPOINT_MANIFEST_H_
#define WEFT_RUNTIME_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/safetensors_header.h"

namespace weft::checkpoint {

// What the manifest knows of one safetensors file.
struct FileRecord {
  int64_t bytes = 0;                 // of the file
  uint64_t header_checksum = 0;      // of the bytes before the data
  std::vector<TensorEntry> tensors;  // ascending by name
  std::vector<uint64_t> checksums;   // one a tensor, see checksum.h
};

struct Manifest {
  int64_t step = 0;                         // steps that were done
  uint64_t seed = 0;                        // of the run
  std::map<std::string, std::string> run;   // what the run says of itself, by key; opaque
  std::map<std::string, FileRecord> files;  // by file name
};

// The text of manifest.json, with a checksum over all of it. kInvalidArgument
// for names that are not UTF-8; in `run` a mark takes the place of what is not.
absl::StatusOr<std::string> WriteManifest(const Manifest& manifest);

// Reads what WriteManifest wrote, now or in version 1, which had no `run`. kDataLoss, beginning with `path`, if it is
// not that, byte for byte; kInvalidArgument for another version.
absl::StatusOr<Manifest> ReadManifest(const std::string& path, const std::string& text);

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_MANIFEST_H_
