// Which ranks take longer than others for the same work.
#ifndef WEFT_TOOLS_RUN_SLOW_RANKS_H_
#define WEFT_TOOLS_RUN_SLOW_RANKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/cluster.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/trace/metrics.h"
#include "tools/run/processes.h"

namespace weft::run {

// Of one rank, in some steps.
struct RankTimes {
  std::string host;
  std::vector<int64_t> busy_ns;  // by actor of its stage
};

// What the ranks of this process have computed, from one look to the next. One thread; the cluster outlives it.
class BusyTimes {
 public:
  explicit BusyTimes(executor::Cluster& cluster);

  // Looks. Between steps; what the ranks did from the last look on is in Gather().
  void Take();

  // Of all ranks of the run, by rank. All processes come.
  absl::StatusOr<std::vector<RankTimes>> Gather(Processes& processes) const;

 private:
  executor::Cluster& cluster_;
  std::vector<std::vector<int64_t>> before_, taken_;  // by rank of this process and actor, in nanoseconds
};

// Compares each rank with the others that do the same work: of its stage, and at the same place of the axes that share
// work out unevenly. The median of the others counts, so that one slow rank of three is named, and not the two.
// One thread.
class SlowRanks {
 public:
  // `step` steps are done. The plan outlives this.
  SlowRanks(const plan::Plan& plan, int64_t step);

  // Whether any rank has others that do the same work.
  bool compares() const;

  // The ranks that took much longer than the others from the last call on until `step` steps were done. Kernels count,
  // not what waits: exchanges between ranks and with the host.
  std::vector<trace::SlowRank> Find(int64_t step, const std::vector<RankTimes>& times);

 private:
  const plan::Plan& plan_;
  std::vector<std::vector<int>> alike_;  // ranks that do the same work, by stage
  std::vector<int> stages_;              // of `alike_`
  std::map<int, int64_t> since_;         // by rank that was slow at the last call: its first slow step
  int64_t last_;                         // steps that were done at the last call
};

// "rank 12 (host b) takes 1.43 x the others' compute since step 300, most of it in `h.7.forward`, 2.10 x".
std::string TextOf(const trace::SlowRank& slow);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_SLOW_RANKS_H_
