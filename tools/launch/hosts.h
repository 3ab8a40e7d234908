// The hosts that a run may use, and those of them that it uses.
#ifndef WEFT_TOOLS_LAUNCH_HOSTS_H_
#define WEFT_TOOLS_LAUNCH_HOSTS_H_

#include <string>
#include <utility>
#include <vector>

namespace weft::launch {

struct Host {
  std::string name;
  int slots = 1;  // ranks that it takes
  bool lost = false;
};

// A plan for so many ranks.
struct PlanOfRanks {
  int ranks = 0;
  std::string plan;
};

// Reads "node01:8,node02:8"; a name alone has one slot. Returns what is wrong with it, or "".
std::string ReadHosts(const std::string& text, std::vector<Host>& hosts);

// Reads "8:small.plan", for `--fewer`. Returns what is wrong with it, or "".
std::string ReadPlanOfRanks(const std::string& text, PlanOfRanks& plan);

// One thread.
class Hosts {
 public:
  explicit Hosts(std::vector<Host> hosts) : hosts_(std::move(hosts)) {}

  // Of those that are left.
  int slots() const;
  // The first hosts that have so many slots together, and of the last one no more than these.
  std::vector<Host> Used(int ranks) const;
  // They, for `mpirun --host`: "node01:8,node03:4".
  std::string First(int ranks) const;
  // The ranks of them that run on the host that has this name.
  int RanksOn(const std::string& name, int ranks) const;
  // All that are left, but the one that has this name.
  std::vector<std::string> NamesBut(const std::string& name) const;
  // Takes a host away. False if it is not among those that are left.
  bool Lose(const std::string& name);
  // Those that were taken away.
  std::vector<std::string> Lost() const;
  // Gives back one of them, to its old place.
  void Return(const std::string& name);

 private:
  std::vector<Host> hosts_;
};

// Of several plans the one for the most ranks, the first of equal ones, but at most as many as there are slots; null if
// there is none.
const PlanOfRanks* Largest(const std::vector<PlanOfRanks>& plans, int slots);

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_HOSTS_H_
