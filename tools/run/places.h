// Where a run will write.
#ifndef WEFT_TOOLS_RUN_PLACES_H_
#define WEFT_TOOLS_RUN_PLACES_H_

#include "absl/status/status.h"
#include "tools/run/request.h"

namespace weft::run {

// Whether the files and the folder that a request names can be written, before
// any work is done for them: kInvalidArgument names the flag and the path.
// Leaves nothing behind, and what is there untouched.
absl::Status CheckPlaces(const Request& request);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_PLACES_H_
