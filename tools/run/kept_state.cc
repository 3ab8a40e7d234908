#include "tools/run/kept_state.h"

#include <cstring>

namespace weft::run {

absl::Status KeptState::Take(executor::Cluster& cluster) {
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

absl::Status KeptState::Restore(executor::Cluster& cluster) const {
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
