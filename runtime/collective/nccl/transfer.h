// Tiles that go from GPU to GPU.
#ifndef WEFT_RUNTIME_COLLECTIVE_NCCL_TRANSFER_H_
#define WEFT_RUNTIME_COLLECTIVE_NCCL_TRANSFER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/abi/gpu.h"
#include "runtime/collective/communicator.h"
#include "runtime/collective/local/gpu_move.h"
#include "runtime/collective/nccl/comm.h"
#include "runtime/collective/nccl/nccl.h"

namespace weft::collective {

class NcclCommunicator;

// A send to, or a receive from, one or more ranks: one after another in the order
// of the ranks. All ends have that order, so that none waits for another in turn.
class NcclTransfer : public Operation {
 public:
  // `comms`: of each link.
  static absl::StatusOr<std::unique_ptr<Operation>> Create(NcclCommunicator* communicator, const nccl::Nccl* nccl,
                                                           Gpu* gpu, bool sends, DType dtype,
                                                           const std::vector<Link>& links,
                                                           const std::vector<NcclComm*>& comms);
  absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) override;
  std::string Waiting() const override { return Left(); }
  std::string Left() const override;

 private:
  struct End {
    NcclComm* comm;
    int peer, tag;
    size_t count;
    int64_t offset;               // of the block, if it is one run of the tile
    std::optional<GpuMove> move;  // else between the tile and the staging
  };
  NcclTransfer(NcclCommunicator* communicator, const nccl::Nccl* nccl, bool sends, DType dtype)
      : communicator_(*communicator), nccl_(*nccl), sends_(sends), type_(nccl::TypeOf(dtype)) {}
  absl::Status Add(Gpu* gpu, DType dtype, const Link& link, NcclComm* comm);
  absl::Status RunEnd(const End& end, void* tile, void* stream);

  NcclCommunicator& communicator_;
  const nccl::Nccl& nccl_;
  const bool sends_;
  const nccl::Type type_;
  std::vector<End> ends_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_NCCL_TRANSFER_H_
