// Loading a checkpoint into any layout.
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_READER_H_
#define WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_READER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/safetensors_reader.h"

namespace weft::checkpoint {

// An open checkpoint. Any thread may call anything at any time. No byte of a
// tensor is handed out before the whole tensor was read once and found to be
// what was saved.
class CheckpointReader {
 public:
  // Opens a checkpoint, or the latest one of a folder of them (FindCheckpoint),
  // and compares the files' lengths and headers with the manifest. kNotFound,
  // kDataLoss or kInvalidArgument, naming the file.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(const std::string& path);

  // The checkpoint's own folder.
  const std::string& path() const { return path_; }
  const Manifest& manifest() const { return manifest_; }

  // Reads the tile `spec` of a tensor of the model or the optimizer, whose shape
  // in the file must be `stored_shape`: spec.global_dims, or other dims for the
  // same row-major bytes. kNotFound, kInvalidArgument (shape, dtype) or
  // kDataLoss (checksum), naming file and tensor.
  absl::Status Read(const std::string& name, const TensorSpec& spec, const std::vector<int64_t>& stored_shape,
                    void* out);

  // Verifies the share `part` of `parts` of all tensors, so that ranks can share
  // the work before they read; what nobody verified, Read does.
  absl::Status Verify(int64_t part = 0, int64_t parts = 1);
  // Takes the rest as verified: by other processes.
  void Trust();

 private:
  struct Tensor {
    const SafetensorsReader* file;
    const TensorEntry* entry;
    uint64_t checksum;
    std::once_flag once;
    absl::Status verdict;  // after `once`
  };

  CheckpointReader(std::string path, Manifest manifest) : path_(std::move(path)), manifest_(std::move(manifest)) {}
  absl::StatusOr<std::unique_ptr<const SafetensorsReader>> OpenFile(const std::string& name);
  absl::Status VerifyTensor(Tensor& tensor);

  const std::string path_;
  const Manifest manifest_;
  std::unique_ptr<const SafetensorsReader> model_;
  std::unique_ptr<const SafetensorsReader> optimizer_;
  // In the order of the files' tables, the model's first.
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_READER_H_
