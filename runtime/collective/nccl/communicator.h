// Communicators of ranks that have a GPU each, over NCCL.
#ifndef WEFT_RUNTIME_COLLECTIVE_NCCL_COMMUNICATOR_H_
#define WEFT_RUNTIME_COLLECTIVE_NCCL_COMMUNICATOR_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ops/abi/gpu.h"
#include "runtime/collective/communicator.h"
#include "runtime/collective/nccl/comm.h"
#include "runtime/collective/nccl/ids.h"
#include "runtime/collective/nccl/nccl.h"

namespace weft::collective {

// A communicator of NCCL for every group and channel, and one for the two ranks of
// every link of a transfer: each is used by one stream, in the order of the plan.
// Operations enqueue: Run() returns before the data have moved.
//
// Beside the interface: sums are in NCCL's own order, the same on all members, and
// halves may be rounded more than once; a maximum may drop a NaN. Members that
// issue different operations are not found out. Abort() ends this rank's operations
// alone: whoever calls it tells the others.
class NcclCommunicator : public Communicator {
 public:
  struct Options {
    const nccl::Nccl* nccl = nullptr;
    Gpu* gpu = nullptr;  // this rank's own, with the code of local/gpu_code.h
    NcclIds* ids = nullptr;
    int rank = 0, size = 1;
    // For tests, whose ids tell what is asked for alone: a first Run() connects.
    bool connect_at_run = false;
  };
  // What the options point to outlives it.
  explicit NcclCommunicator(const Options& options) : options_(options) {}

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  absl::StatusOr<std::unique_ptr<Operation>> CreateCollective(const Group& group,
                                                              const std::vector<CollectiveSpec>& specs) override;
  absl::StatusOr<std::unique_ptr<Operation>> CreateTransfer(bool sends, DType dtype,
                                                            const std::vector<Link>& links) override;
  int64_t staging_bytes() const override;  // of the GPU
  absl::Status Connect() override;
  absl::Status Check() override;
  void Abort(const absl::Status& reason) override;

  // Connects one, if it may and is not.
  absl::Status ConnectAtRun(NcclComm& comm);

 private:
  NcclComm* CommOf(NcclName name, int most_ctas);

  const Options options_;
  actor::Fault fault_;        // why this rank's operations end early
  mutable std::mutex mutex_;  // guards what follows; what the map holds never goes
  std::map<std::string, std::unique_ptr<NcclComm>> comms_;
  LinkEnds links_;  // that have an operation
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_NCCL_COMMUNICATOR_H_
