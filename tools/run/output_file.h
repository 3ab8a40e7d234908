// A file of tensors that all processes of a run write together.
#ifndef WEFT_TOOLS_RUN_OUTPUT_FILE_H_
#define WEFT_TOOLS_RUN_OUTPUT_FILE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/checkpoint/safetensors_writer.h"
#include "tools/run/processes.h"

namespace weft::run {

// Nothing is at the path before Commit().
class OutputFile {
 public:
  // All processes come, and get the same error; so with Commit().
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(Processes& processes, const std::string& path,
                                                            const std::vector<checkpoint::TensorInfo>& tensors);

  // Writes a tile that no other process writes. Any thread. After a failure this and Commit() return the first one.
  absl::Status Write(const std::string& name, const TensorSpec& spec, const void* data) {
    return writer_->Write(name, spec, data);
  }

  // Once everything is written. `own`: an error of this process, after which there is no file.
  absl::Status Commit(const absl::Status& own);

 private:
  OutputFile(Processes& processes, std::unique_ptr<checkpoint::SafetensorsWriter> writer)
      : processes_(processes), writer_(std::move(writer)) {}

  Processes& processes_;
  const std::unique_ptr<checkpoint::SafetensorsWriter> writer_;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_OUTPUT_FILE_H_
