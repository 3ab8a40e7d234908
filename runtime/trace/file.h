// The file of a timeline.
#ifndef WEFT_RUNTIME_TRACE_FILE_H_
#define WEFT_RUNTIME_TRACE_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace weft::trace {

// Writes a timeline's JSON, aside first and then in place, so that no half of it
// is ever at `path`. kUnavailable naming the file if it cannot be written.
absl::Status WriteFile(const std::string& path, const std::string& json);

}  // namespace weft::trace

#endif  // WEFT_RUNTIME_TRACE_FILE_H_
