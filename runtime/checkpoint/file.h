// Files by position, with errors that name the file.
#ifndef WEFT_RUNTIME_CHECKPOINT_FILE_H_
#define WEFT_RUNTIME_CHECKPOINT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::checkpoint {

// Owns a file descriptor. ReadAt and WriteAt may be called by any number of
// threads; the rest by one thread at a time. Failures: kNotFound; kDataLoss for
// a file that ends too early; kResourceExhausted for a full disk, quota or file
// size limit; kUnavailable for what else the system refuses.
class File {
 public:
  static absl::StatusOr<File> OpenToRead(const std::string& path);
  // Makes the file, or empties the one that is there.
  static absl::StatusOr<File> Create(const std::string& path);
  // A file that is there, whose content stays.
  static absl::StatusOr<File> OpenToWrite(const std::string& path);

  File(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  absl::StatusOr<int64_t> Size() const;
  // Gives the file its size, and its blocks where the file system can: a disk
  // that is too small shows here and not in the middle.
  absl::Status Allocate(int64_t bytes);
  // Of the blocks that the file has on its disk.
  absl::StatusOr<int64_t> TakenBytes() const;
  absl::Status ReadAt(int64_t offset, void* data, int64_t bytes) const;
  absl::Status WriteAt(int64_t offset, const void* data, int64_t bytes) const;
  // From now on large writes go past the system's cache where the file system lets them: the copy into pages that
  // nobody has used before took 1.5 s of a core for a GiB. What is read soon is better written through the cache.
  void WritePastCache();
  // Waits until everything is on the disk, and closes.
  absl::Status SyncAndClose();

 private:
  File(std::string path, int descriptor);
  absl::Status Error(const char* action) const;  // from errno
  absl::Status WriteThroughCache(int64_t offset, const char* from, int64_t bytes) const;

  std::string path_;
  int descriptor_;
  int past_cache_ = -1;  // the same file, opened with O_DIRECT; -1: it is not
};

// The status for an errno, as "path: cannot action: reason".
absl::Status SystemError(const std::string& path, const std::string& action, int error);

// Makes the names in a directory durable.
absl::Status SyncDirectory(const std::string& path);

// The folder part of a path; "." for a bare name.
std::string Parent(const std::string& path);

// A whole small file; above `limit` bytes it is kDataLoss.
absl::StatusOr<std::string> ReadText(const std::string& path, int64_t limit);

// Writes `path`.partial, syncs it and renames it: other readers see the old
// content or the new. On failure the old content stays.
absl::Status ReplaceText(const std::string& path, const std::string& text);

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_FILE_H_
