// A rank's memory in a tier of the cluster, below its device; and the kernels `fetch` and `store`, which the runtime
// itself provides as it does `input` and `output`.
#ifndef WEFT_RUNTIME_EXECUTOR_TIER_STORE_H_
#define WEFT_RUNTIME_EXECUTOR_TIER_STORE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"
#include "runtime/device/device.h"
#include "runtime/plan/cluster.pb.h"
#include "runtime/plan/plan.pb.h"

namespace weft::executor {

// Bytes at fixed places. Calls for bytes apart may come from several threads; Fetch() and Store() from one.
class TierStore {
 public:
  // `bytes` of the tier for one rank, all of them taken: a disk that is too full shows here, as kResourceExhausted.
  // `folder`: where the file of a disk goes, made if there is none; the file has no name any more when this returns, so
  // that nothing is left of it when the process ends. `device`: what is above, which outlives the store.
  static absl::StatusOr<std::unique_ptr<TierStore>> Create(const Tier& tier, int rank, int64_t bytes,
                                                           const std::string& folder, device::Device& device);
  virtual ~TierStore() = default;

  // To and from memory of the host.
  virtual absl::Status Read(int64_t offset, void* to, int64_t bytes) = 0;
  virtual absl::Status Write(int64_t offset, const void* from, int64_t bytes) = 0;

  // To and from memory of the device, from a task of `stream`, after its work so far.
  virtual absl::Status Fetch(int64_t offset, void* to, int64_t bytes, device::Stream& stream) = 0;
  virtual absl::Status Store(int64_t offset, const void* from, int64_t bytes, device::Stream& stream) = 0;

  // Where the host addresses it; null: on a disk.
  virtual char* memory() const { return nullptr; }

  // Whether Fetch() and Store() do nothing but enqueue copies, so that a stream can record them.
  virtual bool only_enqueues() const = 0;

  // Why a disk is read and written one request at a time (see Disk); empty: it is not.
  virtual std::string refusal() const { return ""; }

  // That the store takes of the tier.
  virtual absl::StatusOr<int64_t> TakenBytes() const = 0;
};

// The first tier on a disk of which a plan uses some; empty: none.
std::string DiskOf(const plan::Plan& plan);

// Where a buffer is in a store: micro-batch i has slot i mod `slots`, the first of which begins at `offset`.
struct PlaceInStore {
  int64_t offset = 0;
  int64_t bytes = 0;  // of the tensor
  int64_t slots = 1, slot_bytes = 0;

  int64_t OffsetOf(int64_t micro_batch) const { return offset + micro_batch % slots * slot_bytes; }
};

// Copies a buffer of the store to its output, or its input to there. Runs on `stream`; both outlive it.
std::unique_ptr<Kernel> CreateFetchKernel(TierStore& store, const PlaceInStore& place, device::Stream& stream);
std::unique_ptr<Kernel> CreateStoreKernel(TierStore& store, const PlaceInStore& place, device::Stream& stream);

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_TIER_STORE_H_
