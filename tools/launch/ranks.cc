#include "tools/launch/ranks.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace weft::launch {
namespace {

std::string ContentsOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

}  // namespace

void Ranks::Look() {
  const std::string process = std::to_string(mpirun_);
  std::istringstream children(ContentsOf("/proc/" + process + "/task/" + process + "/children"));
  bool any = false, alive = false;
  for (pid_t child = 0; children >> child;) {
    if (HasEnded(child)) {
      any = true;
      if (first_ == 0 && ranks_.count(child) != 0) first_ = child;
    } else {
      alive = true;
      if (const int rank = ranks_.count(child) == 0 ? RankOf(child) : -1; rank >= 0) ranks_[child] = rank;
    }
  }
  looks_ = any && !alive ? looks_ + 1 : 0;
}

std::string Ranks::Lost() const {
  const auto it = ranks_.find(first_);
  if (it == ranks_.end()) return "";
  return "rank " + std::to_string(it->second) + " is lost: its process " + std::to_string(first_) + " has ended first";
}

}  // namespace weft::launch
