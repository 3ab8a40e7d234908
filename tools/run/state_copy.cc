#include "tools/run/state_copy.h"

#include <cstring>
#include <utility>

#include "tools/run/kept_state.h"

namespace weft::run {
namespace {

constexpr int64_t kAlignment = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<StateCopy>> StateCopy::Create(executor::Cluster& cluster) {
  std::unique_ptr<StateCopy> copy(new StateCopy(cluster));
  for (int i = 0; i < cluster.size(); ++i) {
    executor::Executor& executor = cluster.executor(i);
    OfRank rank;
    int64_t bytes = 0;
    for (const executor::StateTile& tile : executor.state()) {
      if (!tile.primary) continue;
      rank.parts.push_back({&tile, bytes});
      bytes += (tile.spec.bytes() + kAlignment - 1) / kAlignment * kAlignment;
    }
    auto memory = executor.device().AllocateHostMemory(bytes);
    if (!memory.ok()) return memory.status();
    rank.memory = *std::move(memory);
    copy->ranks_.push_back(std::move(rank));
    copy->bytes_ += bytes;
  }
  return copy;
}

absl::Status StateCopy::Take() {
  return OnEveryRank(cluster_, [&](int i, executor::Executor& executor) {
    for (const Part& part : ranks_[i].parts) {
      const absl::Status taken = executor.SaveTile(*part.tile, [&](const void* bytes) {
        std::memcpy(ranks_[i].memory->base() + part.offset, bytes, part.tile->spec.bytes());
        return absl::OkStatus();
      });
      if (!taken.ok()) return taken;
    }
    return absl::OkStatus();
  });
}

absl::Status StateCopy::ForEach(
    const std::function<absl::Status(const executor::StateTile&, const void*)>& task) const {
  for (const OfRank& rank : ranks_) {
    for (const Part& part : rank.parts) {
      if (absl::Status status = task(*part.tile, rank.memory->base() + part.offset); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::run
