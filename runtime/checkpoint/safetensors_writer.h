// Writing named tensors into a safetensors file, tile by tile from many threads.
#ifndef WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_WRITER_H_
#define WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_WRITER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/safetensors_header.h"

namespace weft::checkpoint {

// Makes `path`.partial with its header and full size at once, takes tiles in
// any order, and renames to `path` in Commit when every element was written
// once. A writer that is destroyed without that leaves nothing behind, and what
// was at `path` stays.
//
// Several processes make one file together: one creates it, the others join, and
// the one commits when it has adopted what the others have written.
//
// Write may be called by any number of threads at a time; Commit and the
// destructor by one, after all Writes returned. After a failure Write and
// Commit return the first one.
class SafetensorsWriter {
 public:
  // See LayOut for the order in the file and what it refuses.
  static absl::StatusOr<std::unique_ptr<SafetensorsWriter>> Create(
      const std::string& path, const std::vector<TensorInfo>& tensors,
      const std::map<std::string, std::string>& metadata = {});
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  // A part of what another process makes: opens the file that its Create() has
  // laid out, with the same arguments. What is written here is told with Finish().
  static absl::StatusOr<std::unique_ptr<SafetensorsWriter>> Join(
      const std::string& path, const std::vector<TensorInfo>& tensors,
      const std::map<std::string, std::string>& metadata = {});

  // Writes the tile `spec` of a tensor. spec.dtype is the tensor's; its global
  // dims may differ from the tensor's shape as long as the row-major bytes are
  // the same. Of several holders of one tile one writes. kInvalidArgument for a
  // tile that overlaps one written before, kNotFound for an unknown name.
  absl::Status Write(const std::string& name, const TensorSpec& spec, const void* data);

  // Of one that has joined, instead of Commit: syncs, and returns what was written
  // in bytes that Adopt() of the writer that was made understands.
  absl::StatusOr<std::string> Finish();
  // Takes what another process has written as written. kDataLoss if that is not what Finish() told.
  absl::Status Adopt(const std::string& part);

  // Syncs and renames. kFailedPrecondition names a tensor that is not complete.
  absl::Status Commit();

  const SafetensorsHeader& header() const { return layout_.header; }
  int64_t file_bytes() const { return layout_.file_bytes; }
  // The checksum of each tensor of header(), in that order; after Commit.
  std::vector<uint64_t> Checksums() const;

 private:
  struct Progress {
    std::vector<TensorSpec> tiles;  // written or being written
    int64_t elements = 0;           // written
    uint64_t checksum = 0;          // of what was written
  };

  SafetensorsWriter(std::string path, SafetensorsLayout layout, File file, bool joined);
  absl::Status WriteTile(const TensorEntry& entry, Progress& progress, const TensorSpec& spec, const void* data);
  // Notes the tile, or says why it cannot be written.
  absl::Status Claim(const TensorEntry& entry, Progress& progress, const TensorSpec& spec);
  absl::Status Fail(absl::Status status);

  const std::string path_;
  const std::string partial_;
  const bool joined_;
  const SafetensorsLayout layout_;
  File file_;
  bool committed_ = false;

  mutable std::mutex mutex_;
  std::vector<Progress> progress_;  // one a tensor; what is in them is guarded by mutex_
  absl::Status failure_;            // guarded by mutex_
};

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_SAFETENSORS_WRITER_H_
