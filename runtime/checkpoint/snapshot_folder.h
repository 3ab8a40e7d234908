// Where the snapshots of a run lie in a host's memory:
//
//   /dev/shm/weft-snapshots-0123456789abcdef/     one folder for each time that a run begins, named by its identity
//     step-00000120.rank-00003                    a snapshot: of a rank of this host, or of a neighbour's
//     .rank-00003.0.partial                       one that is being written
//
// Which of them a run may go on from, its folder of checkpoints says: in `.snapshots`, a line for each.
#ifndef WEFT_RUNTIME_CHECKPOINT_SNAPSHOT_FOLDER_H_
#define WEFT_RUNTIME_CHECKPOINT_SNAPSHOT_FOLDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::checkpoint {

inline constexpr const char* kSnapshotIndex = ".snapshots";

// A new identity: sixteen hexadecimal digits, of this host, process and time.
std::string NewSnapshotIdentity();

// The folder of a run below `parent`, and the identity of the run whose folder it is.
std::string SnapshotFolderOf(const std::string& parent, const std::string& identity);
std::string IdentityOf(const std::string& folder);

// "step-00000120.rank-00003".
std::string SnapshotName(int64_t step, int rank);
std::string SnapshotPath(const std::string& folder, int64_t step, int rank);
// What a file that has such a name is of; false for another name.
bool ParseSnapshotName(const std::string& name, int64_t& step, int& rank);

// kInvalidArgument unless this is a folder of a memory file system.
absl::Status CheckMemoryFolder(const std::string& parent);

// kFailedPrecondition unless a folder is one of this user alone. kNotFound: there is none.
absl::Status CheckPrivate(const std::string& folder);

// Makes the folder for this user alone, or finds that it is one.
absl::Status MakePrivateFolder(const std::string& folder);

// The names of the snapshots in a folder, ascending.
std::vector<std::string> SnapshotsIn(const std::string& folder);

// Removes from a folder all but the snapshots of a step.
absl::Status RemoveOtherSnapshots(const std::string& folder, int64_t step);

// The folders that a folder of checkpoints names, the newest first; none if it names none. kDataLoss if that says
// anything else.
absl::StatusOr<std::vector<std::string>> ReadSnapshotIndex(const std::string& checkpoints);
// No folders: removes it.
absl::Status WriteSnapshotIndex(const std::string& checkpoints, const std::vector<std::string>& folders);

// Removes a folder of this user with what is in it from this host's memory; none there is no error.
absl::Status RemoveSnapshots(const std::string& folder);

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_SNAPSHOT_FOLDER_H_
