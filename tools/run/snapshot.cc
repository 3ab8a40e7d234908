#include "tools/run/snapshot.h"

#include <cstring>

namespace weft::run {
namespace {

// Calls `task` for every rank of this process, with its number among them, side by side.
template <typename Task>
absl::Status OnEveryRank(executor::Cluster& cluster, Task&& task) {
  return cluster.OnEveryRank([&](executor::Executor& executor) {
    int i = 0;
    while (&cluster.executor(i) != &executor) ++i;
    return task(i, executor);
  });
}

}  // namespace

absl::Status Snapshot::Take(executor::Cluster& cluster) {
  tiles_.resize(cluster.size());
  return OnEveryRank(cluster, [&](int i, executor::Executor& executor) {
    tiles_[i].resize(executor.state().size());
    for (size_t t = 0; t < tiles_[i].size(); ++t) {
      const executor::StateTile& tile = executor.state()[t];
      const absl::Status taken = executor.SaveTile(tile, [&](const void* bytes) {
        const char* const begin = static_cast<const char*>(bytes);
        tiles_[i][t].assign(begin, begin + tile.spec.bytes());
        return absl::OkStatus();
      });
      if (!taken.ok()) return taken;
    }
    return absl::OkStatus();
  });
}

absl::Status Snapshot::Restore(executor::Cluster& cluster) const {
  return OnEveryRank(cluster, [&](int i, executor::Executor& executor) {
    for (size_t t = 0; t < tiles_[i].size(); ++t) {
      const absl::Status restored = executor.LoadTile(executor.state()[t], [&](void* bytes) {
        std::memcpy(bytes, tiles_[i][t].data(), tiles_[i][t].size());
        return absl::OkStatus();
      });
      if (!restored.ok()) return restored;
    }
    return absl::OkStatus();
  });
}

}  // namespace weft::run
