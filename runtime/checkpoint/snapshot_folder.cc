#include "runtime/checkpoint/snapshot_folder.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/host_and_time.h"

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "weft-snapshots-";
constexpr size_t kIdentityDigits = 16;
constexpr int64_t kLongestIndex = 1 << 16;
constexpr char kRank[] = ".rank-";
// Linux's tmpfs and ramfs, as statfs(2) has them.
constexpr int64_t kMemoryFileSystems[] = {0x01021994, 0x858458f6};

std::string IndexOf(const std::string& checkpoints) { return absl::StrCat(checkpoints, "/", kSnapshotIndex); }

}  // namespace

std::string NewSnapshotIdentity() {
  static std::atomic<int> count{0};
  const std::string text = absl::StrCat(HostName(), " ", getpid(), " ", TimeText(), " ", count++);
  return ToHex(Checksum(1, 0, text.data(), static_cast<int64_t>(text.size())));
}

std::string SnapshotFolderOf(const std::string& parent, const std::string& identity) {
  return absl::StrCat(parent, "/", kPrefix, identity);
}

std::string IdentityOf(const std::string& folder) {
  const std::string name = folder.substr(folder.rfind('/') + 1);
  const size_t prefix = sizeof(kPrefix) - 1;
  const bool is_one = folder.rfind('/') != std::string::npos && name.size() == prefix + kIdentityDigits &&
                      name.compare(0, prefix, kPrefix) == 0 &&
                      name.find_first_not_of("0123456789abcdef", prefix) == std::string::npos;
  return is_one ? name.substr(prefix) : "";
}

std::string SnapshotName(int64_t step, int rank) { return absl::StrFormat("%s%s%05d", StepName(step), kRank, rank); }

std::string SnapshotPath(const std::string& folder, int64_t step, int rank) {
  return absl::StrCat(folder, "/", SnapshotName(step, rank));
}

bool ParseSnapshotName(const std::string& name, int64_t& step, int& rank) {
  const size_t dash = name.find('-'), mark = name.find(kRank);
  return dash != std::string::npos && mark != std::string::npos && dash < mark &&
         absl::SimpleAtoi(name.substr(dash + 1, mark - dash - 1), &step) &&
         absl::SimpleAtoi(name.substr(mark + sizeof(kRank) - 1), &rank) && step >= 0 && rank >= 0 &&
         SnapshotName(step, rank) == name;
}

absl::Status CheckMemoryFolder(const std::string& parent) {
  struct statfs info;
  if (statfs(parent.c_str(), &info) != 0) {
    return absl::InvalidArgumentError(SystemError(parent, "find", errno).message());
  }
  for (const int64_t type : kMemoryFileSystems) {
    if (static_cast<int64_t>(info.f_type) == type) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(parent, ": expected a folder of a memory file system, such as /dev/shm, got one of another"));
}

absl::Status CheckPrivate(const std::string& folder) {
  struct stat info;
  if (lstat(folder.c_str(), &info) != 0) return SystemError(folder, "find", errno);
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  if (S_ISDIR(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & kOthers) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: expected a folder of user %d alone (mode 0700), got %s of user %d (mode %04o)", folder, geteuid(),
      S_ISDIR(info.st_mode) ? "one" : "none, but a file", info.st_uid, info.st_mode & 07777));
}

absl::Status MakePrivateFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return SystemError(folder, "create", errno);
  return CheckPrivate(folder);
}

std::vector<std::string> SnapshotsIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    int64_t step = 0;
    int rank = 0;
    if (std::string name = it->path().filename().string(); ParseSnapshotName(name, step, rank))
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status RemoveOtherSnapshots(const std::string& folder, int64_t step) {
  std::vector<std::string> others;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    int64_t of_step = -1;
    int rank = 0;
    if (!ParseSnapshotName(it->path().filename().string(), of_step, rank) || of_step != step)
      others.push_back(it->path().string());
  }
  for (const std::string& other : others) {
    if (unlink(other.c_str()) != 0 && errno != ENOENT) return SystemError(other, "remove", errno);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ReadSnapshotIndex(const std::string& checkpoints) {
  const absl::StatusOr<std::string> text = ReadText(IndexOf(checkpoints), kLongestIndex);
  if (absl::IsNotFound(text.status())) return std::vector<std::string>();
  if (!text.ok()) return text.status();
  std::vector<std::string> folders = absl::StrSplit(*text, '\n', absl::SkipEmpty());
  for (const std::string& folder : folders) {
    if (IdentityOf(folder).empty()) {
      return absl::DataLossError(
          absl::StrCat(IndexOf(checkpoints), ": expected folders of snapshots, got `", folder, "`"));
    }
  }
  return folders;
}

absl::Status WriteSnapshotIndex(const std::string& checkpoints, const std::vector<std::string>& folders) {
  const std::string path = IndexOf(checkpoints);
  if (!folders.empty()) return ReplaceText(path, absl::StrJoin(folders, "\n") + "\n");
  return unlink(path.c_str()) == 0 || errno == ENOENT ? absl::OkStatus() : SystemError(path, "remove", errno);
}

absl::Status RemoveSnapshots(const std::string& folder) {
  const absl::Status own = CheckPrivate(folder);
  if (absl::IsNotFound(own)) return absl::OkStatus();
  return own.ok() ? RemoveFolder(folder) : own;
}

}  // namespace weft::checkpoint
