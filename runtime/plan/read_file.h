// Files of a size that somebody has thought of: a device or a wrong file never fills the memory.
#ifndef WEFT_RUNTIME_PLAN_READ_FILE_H_
#define WEFT_RUNTIME_PLAN_READ_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::plan {

// Of a text that people write: a job, a cluster, a model, a schedule. GPT-2's model file has 3 kB.
inline constexpr int64_t kMostTextBytes = int64_t{1} << 24;

// A file that is read piece by piece. For one thread.
class FileReader {
 public:
  // kNotFound, or kInvalidArgument for what can never be opened. Blocks as open(2) does.
  static absl::StatusOr<FileReader> Open(const std::string& path);
  FileReader(FileReader&& from) noexcept;
  ~FileReader();

  // The next bytes: `most`, or fewer where the file ends.
  absl::StatusOr<std::string> Next(int64_t most);

 private:
  FileReader(std::string path, int file) : path_(std::move(path)), file_(file) {}

  const std::string path_;
  int file_;
};

// A whole text file. kInvalidArgument if it has more than kMostTextBytes: "p: expected at most 16777216 bytes, got
// more".
absl::StatusOr<std::string> ReadText(const std::string& path);

// "path: what: " and the system's words for `error`; the code says whether the request was wrong.
absl::Status SystemError(const std::string& path, const char* what, int error);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_READ_FILE_H_
