// Saving a checkpoint from many ranks, and processes, at a time.
#ifndef WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_WRITER_H_
#define WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_WRITER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/safetensors_writer.h"

namespace weft::checkpoint {

// One checkpoint in the making, the only one in its folder. It grows in a folder of its own; Commit gives
// it its name. Until then, whatever happens, earlier checkpoints and `latest`
// are as they were; a writer that fails or is destroyed leaves nothing.
//
// Create, Commit and the destructor are for one thread; between them any number
// of threads may call Write. Of the ranks that hold one tile, one writes it
// (plan::IsPrimary). The first failure is the one that Commit returns; a full
// disk is kResourceExhausted.
//
// A process that may meet a file size limit ignores SIGXFSZ, or it is ended by
// that signal before it can say anything.
class CheckpointWriter {
 public:
  struct Options {
    std::string folder;                              // of checkpoints; made if it is not there
    int64_t step = 0;                                // steps that were done
    uint64_t seed = 0;                               // of the run
    std::map<std::string, std::string> run;          // see Manifest
    KeepRule keep;                                   // what of the folder stays, this one included
    std::map<std::string, std::string> beside = {};  // further files, name and content, which go with a model
  };

  // Lays out both files: the whole logical tensors under their names and stored
  // shapes. Names are unique over both.
  static absl::StatusOr<std::unique_ptr<CheckpointWriter>> Create(const Options& options,
                                                                  const std::vector<TensorInfo>& model,
                                                                  const std::vector<TensorInfo>& optimizer);
  // A part of what another process makes with Create() and the same arguments,
  // which has returned there: it writes into the same files. Then Finish() tells
  // what it has written, and the other one adopts that before it commits.
  static absl::StatusOr<std::unique_ptr<CheckpointWriter>> Join(const Options& options,
                                                                const std::vector<TensorInfo>& model,
                                                                const std::vector<TensorInfo>& optimizer);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Writes a tile of a tensor of either file, see SafetensorsWriter::Write.
  absl::Status Write(const std::string& name, const TensorSpec& spec, const void* data);

  // Of one that has joined: syncs, and returns what it has written.
  absl::StatusOr<std::string> Finish();
  // What Finish() of another process has returned. kDataLoss for other bytes.
  absl::Status Adopt(const std::string& part);

  // Syncs, writes the manifest, publishes, sets `latest` and then removes what
  // the rule does not keep. Every element must have been written. If only the last two
  // fail, the checkpoint itself is whole and the status says what is not done.
  absl::Status Commit();

 private:
  explicit CheckpointWriter(const Options& options);
  // `open`: SafetensorsWriter's Create or Join.
  absl::Status OpenFiles(decltype(&SafetensorsWriter::Create) open, const std::vector<TensorInfo>& model,
                         const std::vector<TensorInfo>& optimizer);
  absl::Status CommitFiles();
  absl::Status CommitManifest();
  void Abandon();

  const Options options_;
  const std::string partial_;
  bool open_ = true;  // the partial folder is there, and it is this one's to remove
  std::unique_ptr<SafetensorsWriter> model_;
  std::unique_ptr<SafetensorsWriter> optimizer_;
};

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_CHECKPOINT_WRITER_H_
