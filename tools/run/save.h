// One checkpoint of all processes in the making.
//
//   Open()     the first lays the files out, the others join
//   Write()    each process its ranks' tiles
//   Finish()   each process syncs what it has written
//   Gather()   the first hears of all that they have
//   Commit()   the first gives it its name
#ifndef WEFT_TOOLS_RUN_SAVE_H_
#define WEFT_TOOLS_RUN_SAVE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/checkpoint_writer.h"
#include "runtime/executor/cluster.h"
#include "runtime/executor/executor.h"
#include "tools/run/train.h"

namespace weft::run {

// Open() and Gather() are rendezvous: all processes come, and get the same error. The rest may be done by another
// thread, one at a time but for Write(). One that is dropped before it is committed leaves nothing.
class Save {
 public:
  struct Options {
    checkpoint::CheckpointWriter::Options of;
    std::function<absl::Status()> then = nullptr;  // once it has its name, by who commits; null: nothing
  };
  static absl::StatusOr<std::unique_ptr<Save>> Open(const Context& context, Options options);

  // kAborted, and nothing is saved, if a tensor has an element that is not finite, unless the request allows it.
  absl::Status Write(const executor::StateTile& tile, const void* bytes);
  absl::Status Finish();
  // `written`: what Write() and Finish() of this process came to.
  absl::Status Gather(const absl::Status& written);
  // Of the first process.
  absl::Status Commit();

  int64_t step() const { return options_.of.step; }

 private:
  Save(const Context& context, Options options) : context_(context), options_(std::move(options)) {}

  const Context& context_;
  const Options options_;
  std::unique_ptr<checkpoint::CheckpointWriter> writer_;
  std::string part_;                // what this process has written, but the first
  std::vector<std::string> parts_;  // of all, on the first
};

// All at once, while the run stands. All processes come, and get the same error.
absl::Status SaveCheckpoint(const Context& context, executor::Cluster& cluster, Save::Options options);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SAVE_H_
