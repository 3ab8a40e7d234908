#include "runtime/collective/mpi/host_ring.h"

#include <map>

namespace weft::collective {

HostRing::HostRing(const std::vector<std::string>& hosts) {
  std::map<std::string, int> places;
  for (int r = 0; r < static_cast<int>(hosts.size()); ++r) {
    const auto [it, added] = places.insert({hosts[r], size()});
    if (added) ranks_.emplace_back();
    host_.push_back(it->second);
    ranks_[it->second].push_back(r);
  }
}

}  // namespace weft::collective
