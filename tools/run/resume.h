// What a run goes on from.
#ifndef WEFT_TOOLS_RUN_RESUME_H_
#define WEFT_TOOLS_RUN_RESUME_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "tools/run/found_snapshots.h"
#include "tools/run/record.h"
#include "tools/run/train.h"

namespace weft::run {

// A checkpoint, or snapshots in the memory of hosts.
struct ResumePoint {
  std::unique_ptr<checkpoint::CheckpointReader> checkpoint;  // verified; null: snapshots
  std::optional<FoundSnapshots::Whole> snapshots;
  std::string path;  // of it, for people
  const char* kind() const { return checkpoint == nullptr ? "snapshots" : "checkpoint"; }
  int64_t step = 0;  // that it is of
  uint64_t seed = 0;
  Record record;
  std::string last_checkpoint;  // also where the run goes on from snapshots; "": there is none
};

// What is newest and whole, verified by all processes together: a checkpoint of the folder, or snapshots that are of
// later steps than every checkpoint. `tell` gets a line, on all processes, of every newer one that is damaged or not
// whole, and of why. Null without --resume, and if there is nothing yet. If there are checkpoints and none is whole,
// the error is that of the newest. All processes come, and get the same error.
absl::StatusOr<std::unique_ptr<ResumePoint>> FindResume(const Context& context, FoundSnapshots snapshots,
                                                        const std::function<void(const std::string&)>& tell);

// What has changed since, as a line for people; "" if nothing has. `seed`: what the run would have from
// its start; that of before goes on.
// kFailedPrecondition if the state now means something else, or the data is other
// data, unless the request allows it.
absl::StatusOr<std::string> CheckChanges(const ResumePoint& resume, const Record& now, uint64_t seed,
                                         const Request& request);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_RESUME_H_
