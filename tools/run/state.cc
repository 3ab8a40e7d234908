#include "tools/run/state.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/safetensors_reader.h"
#include "tools/run/finite.h"

namespace weft::run {
namespace {

using executor::Executor;
using executor::StateTile;

// The whole tensors of a kind, each name once, in order of name.
std::vector<checkpoint::TensorInfo> TensorsOf(executor::LocalCluster& cluster, bool optimizer) {
  std::map<std::string, checkpoint::TensorInfo> tensors;
  for (int i = 0; i < cluster.size(); ++i) {
    for (const StateTile& tile : cluster.executor(i).state()) {
      if (tile.optimizer == optimizer) tensors[tile.name] = {tile.name, tile.spec.dtype, tile.stored_shape};
    }
  }
  std::vector<checkpoint::TensorInfo> list;
  for (auto& [name, info] : tensors) list.push_back(std::move(info));
  return list;
}

// Calls `task` for every tile of an executor until one fails.
template <typename Task>
absl::Status ForEachTile(Executor& executor, Task&& task) {
  for (const StateTile& tile : executor.state()) {
    if (absl::Status status = task(tile); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckFinite(const StateTile& tile, const void* bytes) {
  if (FindNonFinite(tile.spec.dtype, bytes, tile.spec.elements()) < 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("`", tile.name, "`: expected finite numbers, got others"));
}

}  // namespace

absl::Status LoadParameters(executor::LocalCluster& cluster, const std::string& path,
                            const std::vector<std::string>& prefixes) {
  const auto file = checkpoint::SafetensorsReader::Open(path);
  if (!file.ok()) return file.status();
  return cluster.OnEveryRank([&](Executor& executor) {
    return ForEachTile(executor, [&](const StateTile& tile) -> absl::Status {
      if (tile.optimizer) return absl::OkStatus();
      const auto entry = (*file)->Find(tile.name, prefixes);
      if (!entry.ok()) return entry.status();
      return executor.LoadTile(tile, [&](void* bytes) {
        return (*file)->Read(**entry, tile.spec, tile.stored_shape, checkpoint::Conversion::kWiden, bytes);
      });
    });
  });
}

absl::Status LoadCheckpoint(executor::LocalCluster& cluster, checkpoint::CheckpointReader& reader) {
  std::map<int, int> part_of;
  for (int i = 0; i < cluster.size(); ++i) part_of[cluster.executor(i).rank()] = i;
  const absl::Status verified = cluster.OnEveryRank(
      [&](Executor& executor) { return reader.Verify(part_of.at(executor.rank()), cluster.size()); });
  if (!verified.ok()) return verified;
  return cluster.OnEveryRank([&](Executor& executor) {
    return ForEachTile(executor, [&](const StateTile& tile) {
      return executor.LoadTile(
          tile, [&](void* bytes) { return reader.Read(tile.name, tile.spec, tile.stored_shape, bytes); });
    });
  });
}

absl::Status SaveCheckpoint(executor::LocalCluster& cluster, const plan::Plan& plan, bool allow_nonfinite,
                            checkpoint::CheckpointWriter::Options options) {
  const std::string job = plan.header().job().SerializeAsString();
  options.job_hash = checkpoint::ToHex(checkpoint::Checksum(1, 0, job.data(), static_cast<int64_t>(job.size())));
  options.plan_hash = checkpoint::ToHex(plan.header().hash());
  const auto writer =
      checkpoint::CheckpointWriter::Create(options, TensorsOf(cluster, false), TensorsOf(cluster, true));
  if (!writer.ok()) return writer.status();
  const absl::Status written = cluster.OnEveryRank([&](Executor& executor) {
    return ForEachTile(executor, [&](const StateTile& tile) {
      if (!tile.primary) return absl::OkStatus();
      return executor.SaveTile(tile, [&](const void* bytes) {
        const absl::Status finite = allow_nonfinite ? absl::OkStatus() : CheckFinite(tile, bytes);
        return finite.ok() ? (*writer)->Write(tile.name, tile.spec, bytes) : finite;
      });
    });
  });
  return written.ok() ? (*writer)->Commit() : written;
}

}  // namespace weft::run
