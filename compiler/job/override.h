// Command-line overrides of any message, key.path=value.
#ifndef WEFT_COMPILER_JOB_OVERRIDE_H_
#define WEFT_COMPILER_JOB_OVERRIDE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace weft {

// Sets the key that `text` names behind its first `prefix` characters, which
// errors repeat: ApplyOverride("cluster.node.count=2", 8, &cluster).
absl::Status ApplyOverride(const std::string& text, size_t prefix, google::protobuf::Message* message);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_OVERRIDE_H_
