#include "runtime/collective/local/fabric.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/collective/local/group.h"
#include "runtime/collective/local/link.h"

namespace weft::collective {

struct LocalFabric::State {
  int ranks;
  int spins;
  Gpu* gpu;
  Stop stop;
  std::mutex mutex;  // guards the maps; what they hold never goes
  std::map<std::tuple<std::string, std::vector<int>, int>, std::unique_ptr<LocalGroup>> groups;
  std::map<std::tuple<int, int, int>, std::unique_ptr<LocalLink>> links;

  LocalGroup* GroupOf(const Group& group) {
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<LocalGroup>& found = groups[{group.name, group.ranks, group.channel}];
    if (found == nullptr) found = std::make_unique<LocalGroup>(group, spins, &stop);
    return found.get();
  }

  LocalLink* LinkOf(int sender, int receiver, int tag) {
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<LocalLink>& found = links[{sender, receiver, tag}];
    if (found == nullptr) found = std::make_unique<LocalLink>(sender, receiver, tag, spins, &stop, gpu);
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
    const auto mine = std::find(group.ranks.begin(), group.ranks.end(), rank_);
    if (mine == group.ranks.end()) {
      return absl::InvalidArgumentError(absl::StrCat("group ", group.name, ": expected rank ", rank_,
                                                     " among its members, got ", absl::StrJoin(group.ranks, ",")));
    }
    return LocalCollective::Create(state_.GroupOf(group), static_cast<int>(mine - group.ranks.begin()), specs,
                                   state_.gpu);
  }

  absl::StatusOr<std::unique_ptr<Operation>> CreateSend(DType dtype, const std::vector<Link>& links) override {
    return CreateTransfer(true, dtype, links);
  }
  absl::StatusOr<std::unique_ptr<Operation>> CreateReceive(DType dtype, const std::vector<Link>& links) override {
    return CreateTransfer(false, dtype, links);
  }

  void Abort(const absl::Status& reason) override { state_.stop.Request(reason); }

 private:
  absl::StatusOr<std::unique_ptr<Operation>> CreateTransfer(bool sends, DType dtype, const std::vector<Link>& links) {
    std::vector<LocalLink*> ways;
    for (const Link& link : links) {
      if (link.peer < 0 || link.peer >= state_.ranks || link.peer == rank_) {
        return absl::InvalidArgumentError(
            absl::StrCat("transfer ", link.tag, ": expected another rank below ", state_.ranks, ", got ", link.peer));
      }
      ways.push_back(sends ? state_.LinkOf(rank_, link.peer, link.tag) : state_.LinkOf(link.peer, rank_, link.tag));
      if (absl::Status status = ways.back()->Attach(sends, dtype, link.block); !status.ok()) return status;
    }
    return std::make_unique<LocalTransfer>(sends, std::move(ways), &state_.stop);
  }

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

void LocalFabric::Abort(const absl::Status& reason) { state_->stop.Request(reason); }

}  // namespace weft::collective
