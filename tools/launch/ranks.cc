#include "tools/launch/ranks.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace weft::launch {

std::string ContentsOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();  // which takes note of an error, where an iterator over the buffer throws
  return file ? text.str() : "";
}

namespace {

bool HasEnded(pid_t process) {
  const std::string stat = ContentsOf("/proc/" + std::to_string(process) + "/stat");
  const size_t name = stat.rfind(')');  // which may hold anything
  return name == std::string::npos || name + 2 >= stat.size() || stat[name + 2] == 'Z';
}

// What mpirun has told the process in its environment; -1 if it has not.
int RankOf(pid_t process) {
  constexpr char kName[] = "OMPI_COMM_WORLD_RANK=";
  const std::string all = '\0' + ContentsOf("/proc/" + std::to_string(process) + "/environ");
  const size_t at = all.find('\0' + std::string(kName));
  return at == std::string::npos ? -1 : std::atoi(all.c_str() + at + sizeof(kName));
}

std::vector<pid_t> ChildrenOf(pid_t process) {
  const std::string name = std::to_string(process);
  std::istringstream words(ContentsOf("/proc/" + name + "/task/" + name + "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; words >> child;) children.push_back(child);
  return children;
}

}  // namespace

Ranks::~Ranks() {
  for (const auto& [process, rank] : ranks_) {
    if (rank.end >= 0) close(rank.end);
  }
}

void Ranks::Look() {
  any_alive_ = false;
  for (const auto& [process, rank] : ranks_) {
    if (!HasEnded(process)) {
      any_alive_ = true;
    } else if (first_ == 0) {
      first_ = process;
    }
  }
  bool ended = false, alive = false;
  for (const pid_t child : ChildrenOf(mpirun_)) {
    (HasEnded(child) ? ended : alive) = true;
    if (ranks_.count(child) != 0) continue;
    const int number = RankOf(child);
    if (number >= 0) ranks_[child] = {number, static_cast<int>(syscall(SYS_pidfd_open, child, 0))};
  }
  all_ended_ = ended && !alive;
}

bool Ranks::EndAll(int most_ms) {
  Look();
  const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(most_ms);
  bool all = true;
  for (const auto& [process, rank] : ranks_) {
    if (rank.end < 0) continue;
    syscall(SYS_pidfd_send_signal, rank.end, SIGKILL, nullptr, 0);
    pollfd ended = {rank.end, POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(last - std::chrono::steady_clock::now());
    all = poll(&ended, 1, std::max<int>(0, static_cast<int>(left.count()))) == 1 && all;
  }
  return all;
}

void Ranks::EndChildren() const {
  for (const pid_t child : ChildrenOf(mpirun_)) kill(child, SIGKILL);
}

void Ranks::AppendEnds(std::vector<pollfd>& polled) const {
  if (first_ != 0) return;
  for (const auto& [process, rank] : ranks_) {
    if (rank.end >= 0) polled.push_back({rank.end, POLLIN, 0});
  }
}

std::string Ranks::Lost() const {
  // While all start: the one that ended before it was seen.
  std::set<int> unseen;
  for (int number = 0; number < count_; ++number) unseen.insert(number);
  for (const auto& [process, rank] : ranks_) unseen.erase(rank.number);
  if (unseen.size() == 1) return "rank " + std::to_string(*unseen.begin()) + " is lost: its process has ended first";
  if (const auto it = ranks_.find(first_); it != ranks_.end()) {
    return "rank " + std::to_string(it->second.number) + " is lost: its process " + std::to_string(first_) +
           " has ended first";
  }
  return "a rank is lost";
}

}  // namespace weft::launch
