// Collectives among threads that share an address space: members post their
// addresses, and each reads what it needs straight from the others.
#ifndef WEFT_RUNTIME_COLLECTIVE_LOCAL_GROUP_H_
#define WEFT_RUNTIME_COLLECTIVE_LOCAL_GROUP_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/actor/bell.h"
#include "runtime/collective/communicator.h"
#include "runtime/collective/local/reduce.h"
#include "runtime/collective/local/stop.h"
#include "runtime/collective/tile_copy.h"

namespace weft::collective {

// Where the members of one group and channel meet. An operation has two
// meetings: all have posted, all have finished.
class LocalGroup {
 public:
  LocalGroup(Group group, int spins, Stop* stop);

  struct Member {
    // Valid from its meeting `posted` to its meeting `finished`.
    const CollectiveSpec* spec = nullptr;
    const void* input = nullptr;
    void* output = nullptr;
    // How many operations this member has issued and done its part of.
    alignas(64) std::atomic<uint64_t> posted{0};
    std::atomic<uint64_t> finished{0};
  };

  // Posts member `m`'s operation, and waits until all have. Its number counts
  // from 1. False: stopped.
  bool Post(int m, const CollectiveSpec& spec, const void* input, void* output);
  // Says that member `m` has done its part, and waits until all have.
  bool Finish(int m);

  const Group& group() const { return group_; }
  int size() const { return static_cast<int>(members_.size()); }
  const Member& member(int m) const { return members_[m]; }
  // What member `m` waits for, if it does.
  std::string Missing(int m) const;
  Stop& stop() const { return *stop_; }

 private:
  bool Meet(std::atomic<uint64_t>& arrived, uint64_t number);

  const Group group_;
  Stop* const stop_;
  std::vector<Member> members_;
  actor::Bell bell_;
  alignas(64) std::atomic<uint64_t> posted_{0};
  alignas(64) std::atomic<uint64_t> finished_{0};
};

// Member `m`'s side of one collective.
class LocalCollective : public Operation {
 public:
  static absl::StatusOr<std::unique_ptr<Operation>> Create(LocalGroup* group, int m, const CollectiveSpec& spec);
  absl::Status Run(const void* input, void* output, void* stream) override;
  std::string Waiting() const override;

 private:
  LocalCollective(LocalGroup* group, int m, CollectiveSpec spec) : group_(*group), m_(m), spec_(std::move(spec)) {}
  absl::Status Prepare(const std::vector<int64_t>& output_dims);
  absl::Status CheckAgreement() const;
  void DoPart(void* output);
  void ReduceShare();

  LocalGroup& group_;
  const int m_;
  const CollectiveSpec spec_;
  // By member, filled in Run().
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  ReduceFunction reduce_ = nullptr;
  // What goes from each member's input to this one's output.
  std::vector<TileCopy> copies_;
  std::atomic<bool> running_{false};
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_LOCAL_GROUP_H_
