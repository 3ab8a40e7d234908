// The checkpoint that a run goes on from.
#ifndef WEFT_TOOLS_RUN_RESUME_H_
#define WEFT_TOOLS_RUN_RESUME_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "tools/run/record.h"
#include "tools/run/train.h"

namespace weft::run {

// The newest checkpoint of the folder that is whole, verified by all processes
// together; `tell` gets a line, on the first one, of every newer one that is
// damaged. Null without --resume, and if there is no checkpoint yet. If none is
// whole, the error is that of the newest. All processes come, and get the same
// error.
absl::StatusOr<std::unique_ptr<checkpoint::CheckpointReader>> FindResume(
    const Context& context, const std::function<void(const std::string&)>& tell);

// What has changed since the checkpoint, as a line for people; "" if nothing has. `seed`: what the run would have from
// its start; that of the checkpoint goes on.
// kFailedPrecondition if the state now means something else, or the data is other
// data, unless the request allows it.
absl::StatusOr<std::string> CheckChanges(const checkpoint::CheckpointReader& reader, const Record& now, uint64_t seed,
                                         const Request& request);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_RESUME_H_
