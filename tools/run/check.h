// Whether a machine could run ranks of a plan.
#ifndef WEFT_TOOLS_RUN_CHECK_H_
#define WEFT_TOOLS_RUN_CHECK_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/run/request.h"

namespace weft::run {

// Looks at the plan, the code in it, this machine's device and memory, and the folder of checkpoints; takes none of
// them. What it has found, for people; else what stands in the way: kInvalidArgument of the plan or the folder,
// kResourceExhausted of memory, kUnavailable of the device. The plan is not proved: `weft plan verify` does that.
absl::StatusOr<std::string> CheckMachine(const Request& request);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_CHECK_H_
