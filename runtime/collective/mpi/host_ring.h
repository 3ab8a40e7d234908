// The hosts of a run as a ring, in the order of their lowest ranks. Each host looks after the one before it.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_HOST_RING_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_HOST_RING_H_

#include <string>
#include <vector>

namespace weft::collective {

class HostRing {
 public:
  // `hosts` names the host of each rank.
  explicit HostRing(const std::vector<std::string>& hosts);

  int size() const { return static_cast<int>(ranks_.size()); }
  // The place of a rank's host in the ring, and the ranks of a host, ascending.
  int HostOf(int rank) const { return host_[rank]; }
  const std::vector<int>& RanksOf(int host) const { return ranks_[host]; }
  int Next(int host) const { return (host + 1) % size(); }
  int Before(int host) const { return (host + size() - 1) % size(); }

 private:
  std::vector<int> host_;                // by rank
  std::vector<std::vector<int>> ranks_;  // by host
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_HOST_RING_H_
