// A bundle of collectives among GPUs, as one group of NCCL calls.
#ifndef WEFT_RUNTIME_COLLECTIVE_NCCL_COLLECTIVE_H_
#define WEFT_RUNTIME_COLLECTIVE_NCCL_COLLECTIVE_H_

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
#include "runtime/collective/share.h"

namespace weft::collective {

class NcclCommunicator;

// NCCL cuts tensors along their first dim. What is cut along another is brought
// into parts, one behind the other, in memory beside it; one kernel each way.
class NcclCollective : public Operation {
 public:
  // `comm` null: the group is this rank alone.
  static absl::StatusOr<std::unique_ptr<Operation>> Create(NcclCommunicator* communicator, const nccl::Nccl* nccl,
                                                           Gpu* gpu, NcclComm* comm, const Group& group,
                                                           const std::vector<CollectiveSpec>& bundle);
  absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) override;
  std::string Waiting() const override { return Left(); }
  std::string Left() const override;

 private:
  struct Part {
    Kind kind;
    nccl::Reduction reduction;
    nccl::Type type;
    int by;  // of a shift
    ZigzagMoves zigzag = {};
    size_t count = 0;  // of one member's part, or half; of an all_reduce all
    int64_t part_bytes = 0;
    // Into parts before, out of them behind; at these bytes of the staging.
    std::optional<GpuMove> pack, unpack;
    int64_t packed_at = 0, unpacked_at = 0;
  };

  NcclCollective(NcclCommunicator* communicator, const nccl::Nccl* nccl, Gpu* gpu, NcclComm* comm, const Group& group,
                 const std::vector<CollectiveSpec>& bundle)
      : communicator_(*communicator),
        nccl_(*nccl),
        gpu_(*gpu),
        comm_(comm),
        group_name_(group.name),
        members_(static_cast<int>(group.ranks.size())),
        name_(NameOf(bundle)) {}
  absl::Status Add(const CollectiveSpec& spec, int64_t& staging_bytes);
  absl::Status Before(const Part& part, const void* input, void* output, void* stream);
  nccl::Result Call(const Part& part, const void* input, void* output, nccl::Comm comm, void* stream);
  int Member() const { return comm_ == nullptr ? 0 : comm_->member(); }
  int Mirror() const { return members_ - 1 - Member(); }
  const char* From(const Part& part, const void* input) const;
  char* To(const Part& part, void* output) const;

  NcclCommunicator& communicator_;
  const nccl::Nccl& nccl_;
  Gpu& gpu_;
  NcclComm* const comm_;
  const std::string group_name_;
  const int members_;
  const std::string name_;
  std::vector<Part> parts_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_NCCL_COLLECTIVE_H_
