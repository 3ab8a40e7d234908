// Times collectives and messages between ranks, and what they and kernels cost each other.
#ifndef WEFT_TOOLS_CALIBRATE_COLLECTIVES_H_
#define WEFT_TOOLS_CALIBRATE_COLLECTIVES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/registry.h"
#include "runtime/collective/communicator.h"
#include "runtime/device/device.h"
#include "tools/calibrate/measured.h"

namespace weft::calibrate {

// One rank's way to measure: all ranks call it at the same time, with the same `hosts` and `seconds`.
struct RankContext {
  collective::Communicator* communicator = nullptr;
  device::Device* device = nullptr;
  const KernelRegistry* kernels = nullptr;
  std::vector<int> hosts;  // by rank: the number of its node, from 0 up
  int threads = 1;         // that a kernel may use
  double seconds = 0;      // that this may take, about
};

// Groups of 2, 4, ... ranks of one node and of several, and all: `hosts` as above. The first member of each is rank 0.
std::vector<std::vector<int>> GroupsOf(const std::vector<int>& hosts);

// What rank 0 sees goes into `measured`, which the others leave alone. An error of one rank ends all.
absl::Status MeasureCommunication(const RankContext& rank, Measured& measured);

// The same for `ranks` threads of this process, on one node.
absl::Status MeasureThreads(int ranks, RankContext rank, Measured& measured);

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_COLLECTIVES_H_
