#include "runtime/collective/local/fabric.h"

#include <map>
#include <mutex>
#include <tuple>

#include "runtime/collective/local/group.h"
#include "runtime/collective/local/link.h"

namespace weft::collective {

struct LocalFabric::State {
  int ranks;
  int spins;
  Gpu* gpu;
  actor::Fault fault;  // why all waits end early
  std::mutex mutex;    // guards the maps; what they hold never goes
  std::map<std::tuple<std::string, std::vector<int>, int>, std::unique_ptr<LocalGroup>> groups;
  std::map<std::tuple<int, int, int>, std::unique_ptr<LocalLink>> links;

  LocalGroup* GroupOf(const Group& group) {
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<LocalGroup>& found = groups[{group.name, group.ranks, group.channel}];
    if (found == nullptr) found = std::make_unique<LocalGroup>(group, spins, &fault);
    return found.get();
  }

  LocalLink* LinkOf(int sender, int receiver, int tag) {
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<LocalLink>& found = links[{sender, receiver, tag}];
    if (found == nullptr) found = std::make_unique<LocalLink>(sender, receiver, tag, spins, &fault, gpu);
    return found.get();
  }
};

class LocalCommunicator : public Communicator {
 public:
  LocalCommunicator(LocalFabric::State* state, int rank) : state_(*state), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return state_.ranks; }

  absl::StatusOr<std::unique_ptr<Operation>> CreateCollective(const Group& group,
                                                              const std::vector<CollectiveSpec>& specs) override {
    const absl::StatusOr<int> member = MemberOf(group, specs, rank_, state_.ranks);
    if (!member.ok()) return member.status();
    return LocalCollective::Create(state_.GroupOf(group), *member, specs, state_.gpu);
  }

  absl::StatusOr<std::unique_ptr<Operation>> CreateTransfer(bool sends, DType dtype,
                                                            const std::vector<Link>& links) override {
    if (absl::Status status = CheckPeers(links, rank_, state_.ranks); !status.ok()) return status;
    std::vector<LocalLink*> ways;
    for (const Link& link : links) {
      ways.push_back(sends ? state_.LinkOf(rank_, link.peer, link.tag) : state_.LinkOf(link.peer, rank_, link.tag));
      if (absl::Status status = ways.back()->Attach(sends, dtype, link.block); !status.ok()) return status;
    }
    return std::make_unique<LocalTransfer>(sends, std::move(ways), &state_.fault);
  }

  void Abort(const absl::Status& reason) override { state_.fault.Raise(reason); }

 private:
  LocalFabric::State& state_;
  const int rank_;
};

LocalFabric::LocalFabric(int ranks, int spins, Gpu* gpu) : state_(std::make_unique<State>()) {
  state_->ranks = ranks;
  state_->spins = spins;
  state_->gpu = gpu;
}

LocalFabric::~LocalFabric() = default;

std::unique_ptr<Communicator> LocalFabric::Join(int rank) {
  return std::make_unique<LocalCommunicator>(state_.get(), rank);
}

void LocalFabric::Abort(const absl::Status& reason) { state_->fault.Raise(reason); }

}  // namespace weft::collective
