// One communicator of NCCL: made, used and ended without ever blocking in NCCL,
// so that an abort frees every thread and every stream.
#ifndef WEFT_RUNTIME_COLLECTIVE_NCCL_COMM_H_
#define WEFT_RUNTIME_COLLECTIVE_NCCL_COMM_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "ops/abi/gpu.h"
#include "runtime/actor/fault.h"
#include "runtime/collective/nccl/ids.h"
#include "runtime/collective/nccl/nccl.h"

namespace weft::collective {

class NcclComm {
 public:
  // What it points to outlives it. `member`: this rank's place in the name's ranks; `most_ctas`: blocks that a kernel
  // of NCCL's has at most, the same for all members.
  NcclComm(const nccl::Nccl* nccl, Gpu* gpu, actor::Fault* fault, NcclName name, int member, int most_ctas);
  // Ends it in order, or aborts it after an abort.
  ~NcclComm();
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;

  const NcclName& name() const { return name_; }
  int member() const { return member_; }
  bool connected() const { return connected_.load(std::memory_order_acquire); }

  // Makes it; returns when all members have come, or the fault's error.
  absl::Status Connect(const nccl::UniqueId& id);

  // Makes `calls`, which return the first result that is neither kSuccess nor
  // kInProgress, as one group, and waits until NCCL has put them into `stream`. By
  // the thread of the one stream that uses it. `owner` is who asks in Waiting().
  using Calls = absl::FunctionRef<nccl::Result(nccl::Comm)>;
  absl::Status Issue(const void* owner, Calls calls, void* stream);

  // The number of the oldest group that the GPU has not ended, from 1, if it is
  // the owner's; 0: none. Any thread.
  uint64_t Pending(const void* owner) const;

  // What has gone wrong since the calls returned. Any thread.
  absl::Status Check() const;

  // NCCL's communicator, which the caller aborts; null if there is none. Every later call is refused. Any thread.
  nccl::Comm Release();

  // Memory beside the tensors, for one group at a time.
  GpuWorkspace& staging() { return staging_; }

 private:
  // Groups that were issued last and may still run, oldest first.
  struct Flight {
    std::shared_ptr<void> event;  // behind it
    const void* owner = nullptr;
    uint64_t number = 0;
  };
  absl::Status Settle(const char* call, nccl::Result result) const;
  absl::Status Mark(const void* owner, void* stream);
  void DropEnded() const;
  std::string Where(const char* call) const;

  const nccl::Nccl& nccl_;
  Gpu& gpu_;
  const actor::Fault& fault_;
  const NcclName name_;
  const int member_, most_ctas_;
  GpuWorkspace staging_;
  std::atomic<bool> connected_{false};
  mutable std::mutex mutex_;  // guards the communicator; not held while anything waits
  nccl::Comm comm_ = nullptr;
  mutable std::mutex flights_mutex_;  // guards what follows
  std::vector<Flight> flights_;       // a ring
  mutable size_t first_ = 0, count_ = 0;
  uint64_t issued_ = 0;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_NCCL_COMM_H_
