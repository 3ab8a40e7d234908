// The file of a timeline.
#ifndef WEFT_RUNTIME_TRACE_FILE_H_
#define WEFT_RUNTIME_TRACE_FILE_H_

#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace weft::trace {

// Opens `path` to write it anew. Null, with errno, if that cannot be done; ENXIO for a pipe that nobody reads, which
// is not waited for.
std::FILE* OpenToWrite(const std::string& path);

// errno in words.
std::string WhyNotWritten(int error);

// Writes a timeline's JSON, aside first and then in place, so that no half of it
// is ever at `path`. kUnavailable naming the file if it cannot be written.
absl::Status WriteFile(const std::string& path, const std::string& json);

// Writes to `path` what timelines of several processes hold together, and removes
// those. Files of one host, or of hosts that share a file system.
absl::Status MergeFiles(const std::vector<std::string>& parts, const std::string& path);

}  // namespace weft::trace

#endif  // WEFT_RUNTIME_TRACE_FILE_H_
