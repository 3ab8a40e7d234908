// Tiles that go from thread to thread.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_LINK_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_LINK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ops/abi/bell.h"
#include "ops/abi/gpu.h"
#include "runtime/actor/fault.h"
#include "runtime/collective/communicator.h"
#include "runtime/collective/local/gpu_move.h"
#include "runtime/collective/local/point.h"
#include "runtime/collective/tile_copy.h"

namespace weft::collective {

// The way from one rank to another for one tag. The sender posts its address,
// the receiver copies. One tile is under way at a time.
class LocalLink {
 public:
  // `gpu`: whose memory the tiles are in; null: the host's.
  LocalLink(int sender, int receiver, int tag, int spins, actor::Fault* fault, Gpu* gpu);

  // Each end says once what it has, before anything is sent. kInvalidArgument
  // if the ends differ or one comes twice.
  absl::Status Attach(bool sender, DType dtype, const TensorBlock& block);

  // From here on on the streams of the ends; kCancelled, or the reason: stopped.
  absl::Status Post(const void* tile, void* stream);
  absl::Status AwaitTaken(void* stream);        // the receiver has copied what was posted
  absl::Status Take(void* tile, void* stream);  // waits for a posted tile and copies it
  std::string Waiting(bool sender) const;

 private:
  struct End {
    DType dtype;
    TensorBlock block;
  };
  const int sender_, receiver_, tag_;
  actor::Fault* const fault_;
  std::mutex mutex_;  // guards what Attach() sets
  std::optional<End> ends_[2];
  std::unique_ptr<TileCopy> copy_;
  Gpu* const gpu_;
  std::optional<GpuMove> move_;  // the same on a GPU
  Point ready_, copied_;         // the sender's, the receiver's
  Bell bell_;
  const void* posted_tile_ = nullptr;
  std::atomic<uint64_t> posted_{0};
  std::atomic<uint64_t> taken_{0};
};

// A send to, or a receive from, one or more ranks.
class LocalTransfer : public Operation {
 public:
  LocalTransfer(bool sends, std::vector<LocalLink*> links, actor::Fault* fault)
      : sends_(sends), links_(std::move(links)), fault_(*fault) {}
  absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) override;
  std::string Waiting() const override;

 private:
  const bool sends_;
  const std::vector<LocalLink*> links_;
  actor::Fault& fault_;
  std::atomic<LocalLink*> waits_for_{nullptr};
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_LINK_H_
