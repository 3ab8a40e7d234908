#include "ops/abi/parallel.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "ops/abi/bell.h"

namespace weft::parallel_internal {
namespace {

// Looks before a sleep, some 100 microseconds: longer than what a stream mostly does on one thread between
// two calls (an act that reads a batch takes 20). So within a step no helper sleeps that has a core.
constexpr int kLooks = 4000;

thread_local bool is_helper = false;

// The helpers of one calling thread, which alone calls.
class Team {
 public:
  ~Team() {
    work_.function = nullptr;
    for (auto& helper : helpers_) helper->Call();
    for (auto& helper : helpers_) helper->thread.join();
  }

  // Within Run(): on the calling thread, as its body calls.
  bool busy() const { return work_.function != nullptr; }

  // `shares` ranges, a thread each.
  void Run(int64_t shares, int64_t count, RangeFunction function, void* body) {
    while (static_cast<int64_t>(helpers_.size()) < shares - 1) Add();
    work_ = {shares, count, function, body};
    left_.store(shares - 1, std::memory_order_relaxed);
    for (int64_t i = 0; i < shares - 1; ++i) helpers_[i]->Call();
    work_.Do(0);
    end_.Wait([this] { return left_.load(std::memory_order_acquire) == 0; });
    work_.function = nullptr;
  }

 private:
  // Written by the caller while no helper has a call.
  struct Work {
    int64_t shares = 0, count = 0;
    RangeFunction function = nullptr;  // null: the end
    void* body = nullptr;

    void Do(int64_t share) const { function(body, count * share / shares, count * (share + 1) / shares); }
  };

  struct Helper {
    Bell bell{kLooks};
    std::atomic<uint64_t> calls{0};
    std::thread thread;

    void Call() {
      calls.fetch_add(1, std::memory_order_release);
      bell.Ring();
    }
  };

  void Add() {
    helpers_.push_back(std::make_unique<Helper>());
    const auto share = static_cast<int64_t>(helpers_.size());
    helpers_.back()->thread = std::thread([this, share, helper = helpers_.back().get()] { Help(share, *helper); });
  }

  void Help(int64_t share, Helper& own) {
    is_helper = true;
    for (uint64_t seen = 0;; ++seen) {
      own.bell.Wait([&] { return own.calls.load(std::memory_order_acquire) != seen; });
      if (work_.function == nullptr) return;
      work_.Do(share);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) end_.Ring();
    }
  }

  std::vector<std::unique_ptr<Helper>> helpers_;
  Work work_;
  std::atomic<int64_t> left_{0};  // helpers that have a call
  Bell end_{kLooks};
};

}  // namespace

void ParallelRanges(int threads, int64_t count, int64_t grain, RangeFunction function, void* body) {
  if (count <= 0) return;
  const int64_t useful = std::max<int64_t>(1, count / std::max<int64_t>(1, grain));
  const int64_t shares = std::min<int64_t>(std::max(threads, 1), useful);
  thread_local Team team;
  if (shares == 1 || is_helper || team.busy()) {
    function(body, 0, count);
    return;
  }
  team.Run(shares, count, function, body);
}

}  // namespace weft::parallel_internal
