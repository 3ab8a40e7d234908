// A file of which several parts are read or written at a time.
#ifndef WEFT_RUNTIME_EXECUTOR_DISK_H_
#define WEFT_RUNTIME_EXECUTOR_DISK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/checkpoint/file.h"

namespace weft::executor {

class Ring;

// By io_uring, whose queue a disk needs to be kept busy: one call of pread has one request under way. By pread and
// pwrite where the system refuses it. Calls by one thread at a time; errors are those of checkpoint::File.
class Disk {
 public:
  // `file` outlives it.
  explicit Disk(const checkpoint::File& file);
  ~Disk();

  absl::Status Read(int64_t offset, void* to, int64_t bytes);
  absl::Status Write(int64_t offset, const void* from, int64_t bytes);

  // Why io_uring is not used, as "io_uring_setup: Operation not permitted"; empty: it is.
  const std::string& refusal() const { return refusal_; }

 private:
  const checkpoint::File& file_;
  std::unique_ptr<Ring> ring_;  // null: refused
  std::string refusal_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_DISK_H_
