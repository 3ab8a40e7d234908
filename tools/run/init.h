// Initial parameters from a .safetensors file.
#ifndef WEFT_TOOLS_RUN_INIT_H_
#define WEFT_TOOLS_RUN_INIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/executor/cluster.h"
#include "tools/run/train.h"

namespace weft::run {

// Whether the request's file, if it has one, has the plan's parameters, under their
// names or with one of the job's prefixes before them, and is the same on all
// processes. Says how many it has, and which of its tensors are none:
// "w.safetensors: loaded 28 of 28 parameters; of no use here: `x`". The file may
// lack some, but not all, if the request is for a part; otherwise kNotFound names
// what it lacks. All processes come, and get the same error; so with LoadInit.
absl::StatusOr<std::string> CheckInit(const Context& context);

// Loads what the file has. Optimizer state stays as it is.
absl::Status LoadInit(const Context& context, executor::Cluster& cluster);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_INIT_H_
