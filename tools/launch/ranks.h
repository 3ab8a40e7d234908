// The processes that an mpirun has started on this machine.
#ifndef WEFT_TOOLS_LAUNCH_RANKS_H_
#define WEFT_TOOLS_LAUNCH_RANKS_H_

#include <sys/types.h>

#include <map>
#include <string>

namespace weft::launch {

// Looked at now and then: an mpirun that loses a rank while all start may end the
// others and then wait for ever itself.
class Ranks {
 public:
  explicit Ranks(pid_t mpirun) : mpirun_(mpirun) {}

  // Sees who runs and who has ended without mpirun having taken note.
  void Look();

  // How many ranks were seen.
  int known() const { return static_cast<int>(ranks_.size()); }
  // How many looks in a row have found that there were ranks, and that all have ended.
  int looks_at_none() const { return looks_; }
  // "rank 1 is lost: its process 4711 has ended first" for the one that did; "" if
  // that is not known.
  std::string Lost() const;

 private:
  const pid_t mpirun_;
  std::map<pid_t, int> ranks_;  // that were seen alive
  pid_t first_ = 0;             // to end
  int looks_ = 0;
};

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_RANKS_H_
