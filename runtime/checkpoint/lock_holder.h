// Who has the lock of a folder of checkpoints (folder_lock.h), as its file says.
#ifndef WEFT_RUNTIME_CHECKPOINT_LOCK_HOLDER_H_
#define WEFT_RUNTIME_CHECKPOINT_LOCK_HOLDER_H_

#include <sys/types.h>

#include <optional>
#include <string>

namespace weft::checkpoint {

// "node01 4711 2026-11-22T20:15:00Z".
struct LockHolder {
  std::string host;
  pid_t process = 0;  // 0: it has just taken the lock, and not yet written this
  std::string since;
};

std::string LockPathIn(const std::string& folder);
LockHolder LockHolderIn(const std::string& text);
// Nothing if the folder is not locked.
std::optional<LockHolder> LockHolderOf(const std::string& folder);

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_LOCK_HOLDER_H_
