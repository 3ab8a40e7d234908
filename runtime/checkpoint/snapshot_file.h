// A snapshot of one rank's state, as a file in a host's memory.
//
//   tiles     the bytes of each, at multiples of 64
//   head      JSON: what it is of (SnapshotHead), behind the tiles
//   seal      the last bytes: the lengths of both, a checksum of each, and one of the seal itself
//
// The file keeps its size, which is taken from the host when it is made. Processes map it: what is written is there
// when the process is not.
#ifndef WEFT_RUNTIME_CHECKPOINT_SNAPSHOT_FILE_H_
#define WEFT_RUNTIME_CHECKPOINT_SNAPSHOT_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace weft::checkpoint {

struct SnapshotHead {
  std::string run;    // the identity of the run that has taken it
  uint64_t plan = 0;  // hash
  int rank = 0;
  int64_t step = 0;  // steps that were done
  uint64_t seed = 0;
  std::map<std::string, std::string> record;    // what the run says of itself, by key; opaque
  std::vector<std::vector<std::string>> hosts;  // of each rank: those that keep its snapshot, its own first
  std::map<std::string, int64_t> tiles;         // where each begins, by name and place
};

// One thread at a time.
class SnapshotFile {
 public:
  // Bytes of a file whose tiles have so many; its head may become somewhat longer than `head` is.
  static int64_t BytesFor(int64_t tiles, const SnapshotHead& head);

  // Makes a file of so many bytes, which nobody but this user reads. kResourceExhausted if the file system has not so
  // much.
  static absl::StatusOr<std::unique_ptr<SnapshotFile>> Create(const std::string& path, int64_t bytes);
  // One that is sealed, to be read. kDataLoss, naming the file, if the seal or the head is not as it was written.
  static absl::StatusOr<std::unique_ptr<SnapshotFile>> Open(const std::string& path);
  ~SnapshotFile();
  SnapshotFile(const SnapshotFile&) = delete;
  SnapshotFile& operator=(const SnapshotFile&) = delete;

  const std::string& path() const { return path_; }
  // All of it, the tiles first. Of one that was opened it is not written.
  absl::Span<char> bytes() const { return absl::MakeSpan(base_, size_); }
  const SnapshotHead& head() const { return head_; }  // of one that was opened

  // Of one that was made: what it is of, and the bytes of its tiles, which are there.
  absl::Status Seal(const SnapshotHead& head, int64_t tiles);
  // Takes the seal away, and gives the file the name of one that is being written.
  absl::Status Unseal(const std::string& partial);
  // Whether it has a seal.
  bool IsSealed() const;
  // kDataLoss, naming the file, unless every byte of the tiles is as it was when it was sealed.
  absl::Status Verify() const;
  // Gives the file another name in its folder, in the place of what has that name.
  absl::Status Rename(const std::string& path);

 private:
  SnapshotFile(std::string path, char* base, int64_t size) : path_(std::move(path)), base_(base), size_(size) {}
  absl::Status ReadSeal();

  std::string path_;
  char* const base_;
  const int64_t size_;
  int64_t tiles_ = 0;  // bytes
  uint64_t checksum_ = 0;
  SnapshotHead head_;
};

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_SNAPSHOT_FILE_H_
