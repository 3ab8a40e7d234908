// Ranks of a test that have an emulated GPU each, and emulated NCCL between them.
#ifndef WEFT_TESTS_EMULATION_NCCL_RANKS_H_
#define WEFT_TESTS_EMULATION_NCCL_RANKS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/collective/nccl/communicator.h"
#include "runtime/device/cuda/device.h"
#include "tests/emulation/cuda/driver.h"
#include "tests/emulation/nccl/nccl.h"
#include "tests/emulation/simt/emulated.h"

namespace weft::collective {

// The ids of ranks that are threads of one process.
class LocalIds : public NcclIds {
 public:
  explicit LocalIds(const nccl::Nccl* nccl) : nccl_(*nccl) {}
  absl::StatusOr<std::vector<nccl::UniqueId>> Exchange(const std::vector<NcclName>& names) override {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<nccl::UniqueId> ids;
    for (const NcclName& name : names) {
      const auto [found, is_new] = ids_.try_emplace(name.Key());
      if (is_new) {
        const absl::Status status = nccl_.Check(nccl_.GetUniqueId(&found->second), "ncclGetUniqueId", nullptr);
        if (!status.ok()) return status;
      }
      ids.push_back(found->second);
    }
    return ids;
  }

 private:
  const nccl::Nccl& nccl_;
  std::mutex mutex_;
  std::map<std::string, nccl::UniqueId> ids_;
};

struct EmulatedRanks {
  explicit EmulatedRanks(int ranks, bool connect_at_run = false, uint64_t seed = 1)
      : driver({.gpus = ranks, .seed = seed}), nccl(&driver), ids(&nccl.nccl()) {
    for (int r = 0; r < ranks; ++r) {
      devices.push_back(*device::CreateCudaDevice(driver.driver(), r, cuda::ImagesOf(modules)));
      communicators.push_back(
          std::make_unique<NcclCommunicator>(NcclCommunicator::Options{.nccl = &nccl.nccl(),
                                                                       .gpu = devices[r]->gpu(),
                                                                       .ids = &ids,
                                                                       .rank = r,
                                                                       .size = ranks,
                                                                       .connect_at_run = connect_at_run}));
    }
  }
  void Abort(const absl::Status& reason) {
    for (auto& communicator : communicators) communicator->Abort(reason);
  }

  const std::vector<std::unique_ptr<EmulatedModule>> modules = EmulatedModules();
  cuda::EmulatedDriver driver;
  nccl::EmulatedNccl nccl;
  LocalIds ids;
  std::vector<std::unique_ptr<device::Device>> devices;
  std::vector<std::unique_ptr<NcclCommunicator>> communicators;
};

}  // namespace weft::collective

#endif  // WEFT_TESTS_EMULATION_NCCL_RANKS_H_
