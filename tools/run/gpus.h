// Several processes with a GPU each: who has which, and NCCL between them.
#ifndef WEFT_TOOLS_RUN_GPUS_H_
#define WEFT_TOOLS_RUN_GPUS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/gpu.h"
#include "runtime/collective/nccl/communicator.h"
#include "runtime/collective/nccl/nccl.h"
#include "runtime/collective/nccl/world_ids.h"
#include "runtime/device/cuda/device.h"
#include "runtime/device/cuda/driver.h"
#include "tools/run/processes.h"

namespace weft::run {

// What the driver has to be told before it is opened, where ranks have streams whose
// work waits for other ranks. Changes the environment of this process; what is set stays.
void PrepareDriver();

// The GPU of a process that is the `rank`-th of `ranks` on its host, which sees `gpus`:
// its own number, or the only one that a launcher lets it see.
int OrdinalOf(int rank, int gpus);

// kInvalidArgument if two ranks have one GPU: "ranks 0 and 1 have one GPU ...". `uuids`: by rank.
absl::Status CheckGpus(const std::vector<std::string>& uuids, const std::string& name);

// This process's GPU, once all have agreed that each has one of its own. All come.
absl::StatusOr<int> ChooseGpu(const cuda::Driver& driver, const device::CudaInventory& inventory, Processes& processes);

// NCCL and this rank's communicator. What it is made from outlives it.
struct NcclRank {
  std::unique_ptr<nccl::OpenedNccl> nccl;
  std::unique_ptr<collective::WorldIds> ids;
  std::unique_ptr<collective::NcclCommunicator> communicator;
};
// Opens NCCL on all processes: the same version. All come, and have the same error.
absl::StatusOr<NcclRank> JoinNccl(const std::string& folder, Processes& processes);
// Makes the communicator of the rank, whose GPU it is.
void MakeCommunicator(NcclRank& rank, Gpu* gpu, Processes& processes);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_GPUS_H_
