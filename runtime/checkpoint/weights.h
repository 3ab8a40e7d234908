// The parameters of a model wherever they lie: in one safetensors file, in several with an index, in a checkpoint.
#ifndef WEFT_RUNTIME_CHECKPOINT_WEIGHTS_H_
#define WEFT_RUNTIME_CHECKPOINT_WEIGHTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/safetensors_reader.h"

namespace weft::checkpoint {

// What lists the tensors of several safetensors files, by Hugging Face's habit: {"weight_map": {tensor: file}}.
inline constexpr const char* kIndexFile = "model.safetensors.index.json";

// Open files. Any thread may call anything at any time.
class Weights {
 public:
  struct Tensor {
    const SafetensorsReader* file;
    const TensorEntry* entry;
  };

  // Opens a .safetensors file; an index, NAME.index.json, and the files that it names; the model of a checkpoint, or of
  // the newest one of a folder of them; or a folder that has model.safetensors or kIndexFile. Each file's header is
  // read and checked. kDataLoss where a file that the index names is not there, or has other tensors than the index
  // says.
  static absl::StatusOr<std::unique_ptr<Weights>> Open(const std::string& path);

  // Of the file, or of the index.
  const std::string& path() const { return path_; }
  // By name.
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  // The checkpoint's own, if it is one; else null.
  const CheckpointReader* checkpoint() const { return checkpoint_.get(); }
  // Of all headers.
  uint64_t header_checksum() const;

  // As SafetensorsReader::Read, and bf16 and f16 become f32. A checkpoint's tensor is verified first.
  absl::Status Read(const Tensor& tensor, const TensorSpec& spec, const std::vector<int64_t>& stored_shape,
                    void* out) const;

  // For an error: the names that end most like `name`.
  std::string NamesLike(const std::string& name) const;

 private:
  absl::Status OpenFolder(const std::string& folder);
  absl::Status OpenIndex(const std::string& path);
  // Takes a file's tensors.
  absl::Status AddFile(const std::string& path);

  std::string path_;
  std::unique_ptr<CheckpointReader> checkpoint_;
  std::vector<std::unique_ptr<const SafetensorsReader>> files_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_WEIGHTS_H_
