// NCCL's ids among the processes of an MPI job.
#ifndef WEFT_RUNTIME_COLLECTIVE_NCCL_WORLD_IDS_H_
#define WEFT_RUNTIME_COLLECTIVE_NCCL_WORLD_IDS_H_

#include <vector>

#include "runtime/collective/mpi/world.h"
#include "runtime/collective/nccl/ids.h"
#include "runtime/collective/nccl/nccl.h"

namespace weft::collective {

// Two rendezvous of the world: what everybody needs, then the ids, which the first
// member of each name makes.
class WorldIds : public NcclIds {
 public:
  WorldIds(World* world, const nccl::Nccl* nccl) : world_(*world), nccl_(*nccl) {}
  // kFailedPrecondition, on all, if a member of a name does not know it; else NCCL's
  // error, with the rank that met it.
  absl::StatusOr<std::vector<nccl::UniqueId>> Exchange(const std::vector<NcclName>& names) override;

 private:
  World& world_;
  const nccl::Nccl& nccl_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_NCCL_WORLD_IDS_H_
