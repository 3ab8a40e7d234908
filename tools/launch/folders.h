// The temporary folders of a launch, on this machine.
#ifndef WEFT_TOOLS_LAUNCH_FOLDERS_H_
#define WEFT_TOOLS_LAUNCH_FOLDERS_H_

#include <string>

namespace weft::launch {

// A folder for one launch, removed with it: mpirun tells jobs apart by numbers of processes, which containers that
// share /tmp may both have.
//
// A launch that is killed leaves its folder behind. So the folder holds a locked file, and the lock ends with the last
// process that has it: the next launch removes what it can lock.
class Folder {
 public:
  // Makes `parent`/weft.XXXXXX, after removing this user's left ones there; in /tmp if `parent` cannot be
  // written. `path()` is "" if there is none.
  explicit Folder(const std::string& parent);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  bool Make(const std::string& parent);

  std::string path_;
  int lock_ = -1;  // inherited by the processes of the launch, which may outlive it
};

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_FOLDERS_H_
