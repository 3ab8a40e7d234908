// Initial parameters from a .safetensors file or a checkpoint.
#ifndef WEFT_TOOLS_RUN_INIT_H_
#define WEFT_TOOLS_RUN_INIT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/safetensors_reader.h"
#include "runtime/executor/cluster.h"
#include "tools/run/train.h"

namespace weft::run {

// The file that a request names, or the model of the checkpoint that its path means (checkpoint::FindCheckpoint).
class InitialParameters {
 public:
  // Nothing, if the request names none. Checks that the file has the plan's parameters, under their names or with one
  // of the job's prefixes before them, and is the same on all processes. The file may lack some, but not all, if the
  // request is for a part; otherwise kNotFound names what it lacks. All processes come, and get the same error; so
  // with Load().
  static absl::StatusOr<InitialParameters> Open(const Context& context);

  // How many there are, and which of the file's tensors are none, for people:
  // "w.safetensors: loaded 28 of 28 parameters; of no use here: `x`". "" for nothing.
  const std::string& text() const { return text_; }

  // Loads what the file has. Optimizer state stays as it is.
  absl::Status Load(const Context& context, executor::Cluster& cluster) const;

 private:
  // Of this process alone.
  static absl::StatusOr<InitialParameters> OpenPath(const Context& context);

  std::unique_ptr<checkpoint::CheckpointReader> checkpoint_;   // null: a file of its own
  std::unique_ptr<const checkpoint::SafetensorsReader> file_;  // null: nothing
  std::string text_;
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_INIT_H_
