// Keeps a folder of checkpoints to one run.
#ifndef WEFT_RUNTIME_CHECKPOINT_FOLDER_LOCK_H_
#define WEFT_RUNTIME_CHECKPOINT_FOLDER_LOCK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::checkpoint {

// A file `.lock` in the folder, which names the holder: host, process, since when.
//
// The holder has the file locked too (flock), and the system gives that back when
// the process ends, however it ends. So of a file that nobody has locked the holder
// has ended, and the lock is taken over, if it was one of this host. Of another
// host's nobody can tell here, unless the caller knows that the host is lost: not
// every file system shares locks between hosts.
//
// Several processes of one run share the lock: one of them holds it. One thread.
class FolderLock {
 public:
  // Makes the folder if it is not there. kFailedPrecondition: another run has it,
  // and which; kUnavailable: the system refuses. `lost_hosts`: whose processes have ended.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::string& folder,
                                                          std::vector<std::string> lost_hosts = {});

  // Gives the lock back, and removes the folders that Take() has made and that are empty.
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // The holder from which it was taken over, as "process 4711 on node01 since 2026-11-22T20:15:00Z"; "" if there was
  // none.
  const std::string& taken_from() const { return taken_from_; }

 private:
  FolderLock(std::string folder, std::vector<std::string> lost_hosts);
  // Once; not held afterwards if the holder removed the file meanwhile.
  absl::Status Lock();

  const std::string folder_;
  const std::string path_;
  const std::vector<std::string> lost_hosts_;
  std::vector<std::string> made_;  // innermost first
  int descriptor_ = -1;
  bool held_ = false;
  std::string taken_from_;
};

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_FOLDER_LOCK_H_
