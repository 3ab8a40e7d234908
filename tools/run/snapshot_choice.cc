#include "tools/run/snapshot_choice.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weft::run {

SnapshotNeighbours SnapshotNeighbours::Of(const collective::HostRing& hosts, int rank) {
  SnapshotNeighbours neighbours;
  if (hosts.size() < 2) return neighbours;
  const int own = hosts.HostOf(rank);
  const auto keeper_of = [&](int host, size_t place) {
    const std::vector<int>& next = hosts.RanksOf(hosts.Next(host));
    return next[place % next.size()];
  };
  const std::vector<int>& mine = hosts.RanksOf(own);
  neighbours.to = keeper_of(own, std::find(mine.begin(), mine.end(), rank) - mine.begin());
  const int before = hosts.Before(own);
  const std::vector<int>& others = hosts.RanksOf(before);
  for (size_t i = 0; i < others.size(); ++i) {
    if (keeper_of(before, i) == rank) neighbours.from.push_back(others[i]);
  }
  return neighbours;
}

int SnapshotSet::Lacks() const {
  const auto none = std::find(host_of_rank.begin(), host_of_rank.end(), -1);
  return none == host_of_rank.end() ? -1 : static_cast<int>(none - host_of_rank.begin());
}

std::vector<SnapshotSet> SnapshotSetsOf(const std::vector<HeldSnapshot>& held, const std::vector<int>& own_host) {
  std::map<std::pair<int64_t, int>, SnapshotSet> sets;  // by what comes first
  for (const HeldSnapshot& one : held) {
    SnapshotSet& set = sets[{-one.step, one.run}];
    set.run = one.run;
    set.step = one.step;
    set.host_of_rank.resize(own_host.size(), -1);
    if (one.rank < 0 || one.rank >= static_cast<int>(own_host.size())) continue;
    int& host = set.host_of_rank[one.rank];
    if (host < 0 || (host != own_host[one.rank] && (one.host == own_host[one.rank] || one.host < host)))
      host = one.host;
  }
  std::vector<SnapshotSet> list;
  for (auto& [key, set] : sets) list.push_back(std::move(set));
  return list;
}

}  // namespace weft::run
