// A bundle of collectives among processes.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_GROUP_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_GROUP_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/collective/communicator.h"
#include "runtime/collective/mpi/exchange.h"
#include "runtime/collective/mpi/hello.h"
#include "runtime/collective/mpi/wire.h"

namespace weft::collective {

// What the operations of one group and channel share; they run one at a time.
class MpiGroup {
 public:
  MpiGroup(Group group, int tag);
  const Group& group() const { return group_; }
  int size() const { return static_cast<int>(group_.ranks.size()); }
  int tag() const { return tag_; }
  uint64_t fingerprint() const { return fingerprint_; }

  // Memory for the largest operation, aligned to 64. Reserve() while none runs.
  // kResourceExhausted if there is not so much.
  absl::Status Reserve(int64_t bytes);
  int64_t staging_bytes() const { return staging_bytes_; }
  char* staging() const { return staging_.get(); }

  // How many operations were issued; the number of the next one.
  uint64_t Issue() { return ++issued_; }
  // After an error, messages are left over that later operations would take for
  // theirs: they fail likewise.
  absl::Status failure;

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  const Group group_;
  const int tag_;
  const uint64_t fingerprint_;
  uint64_t issued_ = 0;
  int64_t staging_bytes_ = 0;
  std::unique_ptr<char, Free> staging_;
};

// Member `m`'s side. Every member greets every other one and sends it what is
// its due in the first round at once; it takes what the others send once their
// greetings agree.
class MpiCollective : public Operation {
 public:
  // `levels`: by two levels; absent: directly.
  static absl::StatusOr<std::unique_ptr<Operation>> Create(Wire* wire, MpiGroup* group, int m,
                                                           const std::vector<CollectiveSpec>& bundle,
                                                           const std::optional<Levels>& levels);
  absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void* stream) override;
  std::string Waiting() const override;

 private:
  MpiCollective(Wire* wire, MpiGroup* group, int m, const std::vector<CollectiveSpec>& bundle, const std::string& work,
                Exchange exchange);
  absl::Status Perform();
  absl::Status Begin(const Round& round);
  absl::Status GoOn(const Round& round);
  absl::Status Hear(int member);
  absl::Status Send(const Round& round);
  absl::Status Receive(const Round& round, size_t begin, size_t end);
  absl::Status Ended(const Round& round, int index, int bytes);
  void Count(const Round& round);
  void Do(const std::vector<Move>& moves) const;
  void Reduce(const Fold& fold);
  char* At(const Location& location) const;

  Wire& wire_;
  MpiGroup& group_;
  const int m_;
  const std::vector<CollectiveSpec> bundle_;
  const std::string name_;
  const Exchange exchange_;
  std::vector<size_t> first_receive_;  // of each member in the first round, and the end

  // Of the run.
  absl::Span<const void* const> inputs_;
  absl::Span<void* const> outputs_;
  std::vector<Hello> hellos_;  // by member; [m] is what this one says
  // Greetings received and sent, by member; then a round's sends and receives.
  Requests requests_;
  std::vector<const void*> terms_;
  int unheard_ = 0;

  // For Waiting().
  std::atomic<uint64_t> number_{0};  // 0: not running
  struct Progress {
    std::atomic<bool> heard{false};
    std::atomic<int> missing{0};  // messages to and from the member
  };
  std::vector<Progress> progress_;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_GROUP_H_
