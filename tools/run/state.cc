#include "tools/run/state.h"

#include "absl/strings/str_cat.h"
#include "tools/run/finite.h"

namespace weft::run {
namespace {

using executor::Executor;
using executor::StateTile;

// What state of a loss scale is called, or begins with: compiler/passes/precision/loss_scale.cc.
constexpr char kLossScale[] = "loss_scale";

// Calls `task` for every tile of an executor until one fails.
template <typename Task>
absl::Status ForEachTile(Executor& executor, Task&& task) {
  for (const StateTile& tile : executor.state()) {
    if (absl::Status status = task(tile); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFinite(const StateTile& tile, const void* bytes) {
  if (FindNonFinite(tile.spec.dtype, bytes, tile.spec.elements()) < 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("`", tile.name, "`: expected finite numbers, got others"));
}

absl::Status CheckFiniteState(executor::Cluster& cluster) {
  return cluster.OnEveryRank([](Executor& executor) {
    return ForEachTile(executor, [&](const StateTile& tile) {
      return executor.SaveTile(tile, [&](const void* bytes) { return CheckFinite(tile, bytes); });
    });
  });
}

absl::Status LoadCheckpoint(const Context& context, executor::Cluster& cluster, checkpoint::CheckpointReader& reader) {
  return context.processes.Agree(cluster.OnEveryRank([&](Executor& executor) {
    return ForEachTile(executor, [&](const StateTile& tile) {
      const absl::Status loaded = executor.LoadTile(
          tile, [&](void* bytes) { return reader.Read(tile.name, tile.spec, tile.stored_shape, bytes); });
      // A run that went on in another precision has none yet, and begins with the job's.
      const bool may_lack = tile.optimizer && tile.name.rfind(kLossScale, 0) == 0;
      return may_lack && absl::IsNotFound(loaded) ? absl::OkStatus() : loaded;
    });
  }));
}

}  // namespace weft::run
