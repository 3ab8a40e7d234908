// Where a run will write.
#ifndef WEFT_TOOLS_RUN_PLACES_H_
#define WEFT_TOOLS_RUN_PLACES_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/checkpoint/folder_lock.h"
#include "tools/run/request.h"

namespace weft::run {

// Whether the files and the folder that a request names can be written, before
// any work is done for them: kInvalidArgument names the flag and the path.
// Leaves nothing behind, and what is there untouched.
absl::Status CheckPlaces(const Request& request);

// Takes the folder of checkpoints for this run, null without one. kFailedPrecondition
// if another run has it, or if there is something in it that this one would write over:
// checkpoints, of a new run, or a file with the name of a checkpoint.
absl::StatusOr<std::unique_ptr<checkpoint::FolderLock>> TakeFolder(const Request& request);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_PLACES_H_
