// Event files of TensorBoard: records of numbers by step, appended as a run goes on.
#ifndef WEFT_RUNTIME_TRACE_TENSORBOARD_H_
#define WEFT_RUNTIME_TRACE_TENSORBOARD_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/trace/metrics.h"

namespace weft::trace {

// CRC-32C (Castagnoli) of RFC 3720, appendix B.4, by which records are checked.
uint32_t Crc32c(absl::string_view bytes);

// A record: its length as 8 bytes, the masked checksum of these, `data`, and its masked checksum, all little-endian
// (tensorflow/core/lib/io/record_writer.h says the form; the mask turns a checksum by 15 bits and adds a number).
std::string RecordOf(absl::string_view data);

// One file of a folder. For one thread.
class TensorBoardWriter {
 public:
  // Makes `folder` if it is not there, and a new file in it, named by `seconds` since 1970, `host` and this process:
  // TensorBoard shows all files of a folder as one run, so a run that goes on has a file more. kInvalidArgument if it
  // cannot be created.
  static absl::StatusOr<std::unique_ptr<TensorBoardWriter>> Open(const std::string& folder, const std::string& host,
                                                                 int64_t seconds);
  ~TensorBoardWriter() { std::fclose(file_); }

  // Every number of the step's line of metrics, by its key. Written at once. kUnavailable naming the file when the disk
  // is full.
  absl::Status Write(const StepMetrics& metrics, double seconds);

 private:
  TensorBoardWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  absl::Status WriteEvent(const std::string& event);

  const std::string path_;
  std::FILE* const file_;
};

}  // namespace weft::trace

#endif  // WEFT_RUNTIME_TRACE_TENSORBOARD_H_
