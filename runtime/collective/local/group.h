// Collectives among threads that share an address space: members post their
// addresses, and each reads what it needs straight from the others. On a GPU that
// they share, "reads" is a kernel on the member's stream, and the barriers are of
// points in streams: a member's inputs are there, a member's part is done.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_GROUP_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_GROUP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/abi/bell.h"
#include "ops/abi/gpu.h"
#include "runtime/actor/fault.h"
#include "runtime/collective/communicator.h"
#include "runtime/collective/local/gpu_move.h"
#include "runtime/collective/local/point.h"
#include "runtime/collective/reduce.h"
#include "runtime/collective/share.h"
#include "runtime/collective/tile_copy.h"

namespace weft::collective {

// What the members of one group and channel share. An operation has two
// barriers: all have posted, all have finished.
class LocalGroup {
 public:
  LocalGroup(Group group, int spins, actor::Fault* fault);

  struct Member {
    // Valid from the barrier `posted` to the barrier `finished`.
    const std::vector<CollectiveSpec>* bundle = nullptr;
    absl::Span<const void* const> inputs;
    absl::Span<void* const> outputs;
    const Point* ready = nullptr;  // its inputs are there, its outputs may be written
    const Point* done = nullptr;   // it has done its part
    // How many operations this member has issued and done its part of.
    alignas(64) std::atomic<uint64_t> posted{0};
    std::atomic<uint64_t> finished{0};
  };

  // Posts member `m`'s operation, and waits until all have. Its number counts
  // from 1. False: stopped.
  bool Post(int m, const std::vector<CollectiveSpec>& bundle, absl::Span<const void* const> inputs,
            absl::Span<void* const> outputs, const Point* ready, const Point* done);
  // Says that member `m` has done its part, and waits until all have.
  bool Finish(int m);

  const Group& group() const { return group_; }
  int size() const { return static_cast<int>(members_.size()); }
  const Member& member(int m) const { return members_[m]; }
  // What member `m` waits for, if it does.
  std::string Missing(int m) const;
  const actor::Fault& fault() const { return *fault_; }

 private:
  bool Meet(std::atomic<uint64_t>& arrived, uint64_t number);

  const Group group_;
  actor::Fault* const fault_;
  std::vector<Member> members_;
  Bell bell_;
  alignas(64) std::atomic<uint64_t> posted_{0};
  alignas(64) std::atomic<uint64_t> finished_{0};
};

// Member `m`'s side of a bundle.
class LocalCollective : public Operation {
 public:
  // `gpu`: whose memory the tensors are in; null: the host's.
  static absl::StatusOr<std::unique_ptr<Operation>> Create(LocalGroup* group, int m,
                                                           const std::vector<CollectiveSpec>& bundle, Gpu* gpu);
  absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) override;
  std::string Waiting() const override;

 private:
  // What this member does for one of the collectives.
  struct Part {
    int64_t element_bytes = 1;
    ReduceFunction reduce = nullptr;
    // What goes from each member's input to this one's output; of a
    // reduce_scatter, from the reduction.
    std::vector<TileCopy> copies;
    // all_reduce: the bytes that this member reduces.
    Share share;
    // On a GPU, the same as kernels: the reduction, or a copy from each member.
    std::vector<GpuMove> moves;
  };

  LocalCollective(LocalGroup* group, int m, const std::vector<CollectiveSpec>& bundle, Gpu* gpu)
      : group_(*group), m_(m), bundle_(bundle), name_(NameOf(bundle)), gpu_(gpu) {}
  absl::Status Prepare();
  absl::StatusOr<Part> PartOf(const CollectiveSpec& spec) const;
  absl::Status AddMoves(const CollectiveSpec& spec, Part& part) const;
  absl::Status CheckAgreement() const;
  absl::Status DoParts(void* stream);
  void DoPart(size_t i);
  absl::Status EnqueuePart(size_t i, void* stream);
  // Behind these points of every member.
  absl::Status WaitForAll(const std::vector<Point>& points, void* stream) const;

  LocalGroup& group_;
  const int m_;
  const std::vector<CollectiveSpec> bundle_;
  const std::string name_;
  Gpu* const gpu_;
  Point ready_, done_;
  std::vector<Part> parts_;
  // By member, filled in Run() for one part after the other.
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  // By member, copied while they are posted: behind Finish() another member may
  // be at its next operation, or gone.
  std::vector<Point> readies_, dones_;
  std::atomic<bool> running_{false};
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_GROUP_H_
