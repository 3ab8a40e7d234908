#include "tools/run/gpus.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace weft::run {

void PrepareDriver() {
  // A stream for each end of a transfer: by default some share one of eight queues, where
  // what waits for another rank would keep back what that rank waits for.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  // NCCL connects groups when they are made, not while other work waits.
  setenv("NCCL_RUNTIME_CONNECT", "0", /*overwrite=*/0);
}

int OrdinalOf(int rank, int gpus) { return gpus > 0 ? rank % gpus : 0; }

absl::Status CheckGpus(const std::vector<std::string>& uuids, const std::string& name) {
  for (size_t a = 0; a < uuids.size(); ++a) {
    for (size_t b = a + 1; b < uuids.size(); ++b) {
      if (uuids[a] != uuids[b]) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("target cuda: expected a GPU for each process, got ranks ", a, " and ", b, " on one (", name,
                       "), which NCCL refuses; one process (weft-run without mpirun) runs all ranks on one GPU"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> ChooseGpu(const cuda::Driver& driver, const device::CudaInventory& inventory,
                              Processes& processes) {
  const int gpus = static_cast<int>(inventory.gpus.size());
  const int ordinal = OrdinalOf(processes.world()->place_on_host(), gpus);
  cuda::Ordinal device = 0;
  cuda::Uuid uuid = {};
  absl::Status status;
  if (gpus == 0) status = absl::UnavailableError("target cuda: expected a GPU, the driver has none");
  if (status.ok()) status = driver.Check(driver.DeviceGet(&device, ordinal), "cuDeviceGet");
  if (status.ok()) status = driver.Check(driver.DeviceGetUuid(&uuid, device), "cuDeviceGetUuid");
  if (status = processes.Agree(status); !status.ok()) return status;
  const absl::StatusOr<std::vector<std::string>> uuids =
      processes.AllGather(std::string(uuid.bytes, sizeof(uuid.bytes)));
  if (!uuids.ok()) return uuids.status();
  // All find the same two ranks, but name their own GPU: the first process tells.
  status = CheckGpus(*uuids, inventory.gpus[ordinal].name);
  if (status = processes.Agree(status); !status.ok()) return status;
  return ordinal;
}

absl::StatusOr<NcclRank> JoinNccl(const std::string& folder, Processes& processes) {
  absl::StatusOr<std::unique_ptr<nccl::OpenedNccl>> opened = nccl::OpenNccl(folder);
  if (absl::Status status = processes.Agree(opened.status()); !status.ok()) return status;
  const absl::Status same = processes.CheckSame({{"NCCL: version", absl::StrCat((*opened)->version)}});
  if (!same.ok()) return same;
  NcclRank rank;
  rank.nccl = *std::move(opened);
  return rank;
}

void MakeCommunicator(NcclRank& rank, Gpu* gpu, Processes& processes) {
  rank.ids = std::make_unique<collective::WorldIds>(processes.world(), &rank.nccl->nccl);
  rank.communicator = std::make_unique<collective::NcclCommunicator>(collective::NcclCommunicator::Options{
      .nccl = &rank.nccl->nccl, .gpu = gpu, .ids = rank.ids.get(), .rank = processes.rank(), .size = processes.size()});
}

}  // namespace weft::run
