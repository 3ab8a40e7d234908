#include "runtime/checkpoint/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/host_and_time.h"
#include "runtime/checkpoint/lock_holder.h"

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

LockHolder ReadHolder(int descriptor) {
  char text[512] = "";
  const ssize_t size = pread(descriptor, text, sizeof(text) - 1, 0);
  return LockHolderIn(std::string(text, size > 0 ? size : 0));
}

std::string TextOf(const LockHolder& holder) {
  if (holder.process == 0) return "a process that has just taken it";
  return absl::StrCat("process ", holder.process, " on ", holder.host, " since ", holder.since);
}

absl::Status Held(const std::string& folder, const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat(folder, ": expected no other run at work here, got ", what));
}

}  // namespace

FolderLock::FolderLock(std::string folder, std::vector<std::string> lost_hosts)
    : folder_(std::move(folder)), path_(LockPathIn(folder_)), lost_hosts_(std::move(lost_hosts)) {}

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(const std::string& folder,
                                                             std::vector<std::string> lost_hosts) {
  std::unique_ptr<FolderLock> lock(new FolderLock(folder, std::move(lost_hosts)));
  std::error_code error;
  for (fs::path path = folder; !path.empty() && !fs::exists(path, error); path = path.parent_path()) {
    lock->made_.push_back(path);
  }
  if (absl::Status status = MakeFolder(folder); !status.ok()) return status;
  while (!lock->held_) {
    if (absl::Status status = lock->Lock(); !status.ok()) return status;
  }
  return lock;
}

absl::Status FolderLock::Lock() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return SystemError(path_, "create", errno);
  const bool locked = flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  const bool no_locks = !locked && errno != EWOULDBLOCK;  // the file system has none
  const LockHolder holder = ReadHolder(descriptor_);
  if (!locked && !no_locks) return Held(folder_, TextOf(holder));
  struct stat own, there;
  if (fstat(descriptor_, &own) != 0 || stat(path_.c_str(), &there) != 0 || own.st_ino != there.st_ino)
    return absl::OkStatus();
  const std::string host = HostName();
  const bool is_lost = std::any_of(lost_hosts_.begin(), lost_hosts_.end(),
                                   [&](const std::string& lost) { return IsSameHost(lost, holder.host); });
  if (holder.process != 0 && holder.host != host && !is_lost) {
    return Held(folder_, absl::StrCat(TextOf(holder), "; if it has ended, remove ", path_));
  }
  if (holder.process != 0 && no_locks && !is_lost && (kill(holder.process, 0) == 0 || errno == EPERM)) {
    return Held(folder_, TextOf(holder));
  }
  if (holder.process != 0) taken_from_ = TextOf(holder);
  held_ = true;
  const std::string text = absl::StrCat(host, " ", getpid(), " ", TimeText(), "\n");
  if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, text.data(), text.size(), 0) < 0) {
    return SystemError(path_, "write", errno);
  }
  return absl::OkStatus();
}

FolderLock::~FolderLock() {
  if (held_) unlink(path_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
  for (const std::string& folder : made_) rmdir(folder.c_str());
}

}  // namespace weft::checkpoint
