#include "tools/launch/folders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace weft::launch {
namespace {

constexpr char kPrefix[] = "weft.";  // short, as names of sockets are
constexpr char kLock[] = "/weft-launch.lock";

// The file's descriptor if nobody else has the lock and the file is still there; else -1.
int Lock(const std::string& path, int flags) {
  const int lock = open(path.c_str(), O_RDWR | O_NOFOLLOW | flags, 0600);
  struct stat found;
  if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &found) == 0 && found.st_nlink > 0 &&
      found.st_uid == geteuid()) {
    return lock;
  }
  if (lock >= 0) close(lock);
  return -1;
}

void RemoveLeft(const std::string& parent) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator it(parent, ignored), end; it != end; it.increment(ignored)) {
    if (it->path().filename().string().rfind(kPrefix, 0) != 0) continue;
    struct stat found;
    if (lstat(it->path().c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid()) continue;
    const int lock = Lock(it->path().string() + kLock, O_CLOEXEC);
    if (lock < 0) continue;
    std::error_code kept;
    std::filesystem::remove_all(it->path(), kept);
    close(lock);
  }
}

}  // namespace

Folder::Folder(const std::string& parent) {
  if (!Make(parent)) Make("/tmp");
}

Folder::~Folder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

bool Folder::Make(const std::string& parent) {
  RemoveLeft(parent);
  // Another launch may take it for a left one before it is locked, and remove it.
  for (int tries = 0; tries < 10 && lock_ < 0; ++tries) {
    path_ = parent + "/" + kPrefix + "XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) break;
    lock_ = Lock(path_ + kLock, O_CREAT);
  }
  if (lock_ < 0) path_.clear();
  return lock_ >= 0;
}

}  // namespace weft::launch
