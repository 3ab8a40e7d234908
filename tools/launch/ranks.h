// The processes that an mpirun has started on this machine.
#ifndef WEFT_TOOLS_LAUNCH_RANKS_H_
#define WEFT_TOOLS_LAUNCH_RANKS_H_

#include <sys/poll.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace weft::launch {

// What is in a file; empty if it cannot be read, as of a process that ends meanwhile.
std::string ContentsOf(const std::string& path);

// An mpirun that loses a rank while all start may end the others without a word, or then wait for ever itself. So
// whoever runs it looks at the ranks, often until all are known, and when one ends.
class Ranks {
 public:
  // An mpirun that is to start `count` ranks.
  Ranks(pid_t mpirun, int count) : mpirun_(mpirun), count_(count) {}
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  // Sees who runs and who has ended.
  void Look();
  // Adds what becomes readable when the first rank ends: then Look().
  void AppendEnds(std::vector<pollfd>& polled) const;

  // Ends those that live, and returns when none does, or after so many milliseconds; false then.
  bool EndAll(int most_ms);

  // Ends what mpirun has started and is not seen as a rank either, such as shells on other hosts. Does not wait.
  void EndChildren() const;

  // How many ranks were seen, and whether all were.
  int known() const { return static_cast<int>(ranks_.size()); }
  bool all_known() const { return known() == count_; }
  // Whether one that was seen is alive.
  bool any_alive() const { return any_alive_; }
  // Whether mpirun has processes of whose end it has taken no note, and none that lives.
  bool all_ended() const { return all_ended_; }
  // "rank 1 is lost: its process 4711 has ended first" for the one that did, without the process if it was never seen;
  // "a rank is lost" if that is not known.
  std::string Lost() const;

 private:
  struct Rank {
    int number = 0;
    int end = -1;  // the process's descriptor
  };

  const pid_t mpirun_;
  const int count_;
  std::map<pid_t, Rank> ranks_;  // that were seen alive
  pid_t first_ = 0;              // to end
  bool all_ended_ = false, any_alive_ = false;
};

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_RANKS_H_
