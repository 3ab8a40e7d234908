#include "tools/run/state.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/stored.h"
#include "tools/run/cluster.h"
#include "tools/run/finite.h"

namespace weft::run {
namespace {

using executor::Executor;
using executor::StateTile;
using Writer = checkpoint::CheckpointWriter;

// What state of a loss scale is called, or begins with: compiler/passes/precision/loss_scale.cc.
constexpr char kLossScale[] = "loss_scale";

// The whole tensors of a kind, of all stages, each name once, in order of name.
std::vector<checkpoint::TensorInfo> TensorsOf(const plan::Plan& plan, plan::Buffer::Kind kind) {
  std::map<std::string, checkpoint::TensorInfo> tensors;
  for (const plan::Stage& stage : plan.stages()) {
    for (const plan::Buffer& buffer : stage.buffers()) {
      if (buffer.kind() != kind || buffer.alias_of() != 0) continue;
      for (const plan::StoredTensor& it : plan::StoredTensorsOf(buffer)) {
        tensors[it.name] = {it.name, plan::TypeOf(buffer.dtype()), it.shape};
      }
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

absl::Status WriteTiles(executor::Cluster& cluster, Writer& writer, bool allow_nonfinite) {
  return cluster.OnEveryRank([&](Executor& executor) {
    return ForEachTile(executor, [&](const StateTile& tile) {
      if (!tile.primary) return absl::OkStatus();
      return executor.SaveTile(tile, [&](const void* bytes) {
        const absl::Status finite = allow_nonfinite ? absl::OkStatus() : CheckFinite(tile, bytes);
        return finite.ok() ? writer.Write(tile.name, tile.spec, bytes) : finite;
      });
    });
  });
}

// `parts`: what the other processes have written; the first one's is empty.
absl::Status Commit(Writer& writer, const std::vector<std::string>& parts) {
  for (size_t r = 1; r < parts.size(); ++r) {
    if (absl::Status status = writer.Adopt(parts[r]); !status.ok()) return status;
  }
  return writer.Commit();
}

}  // namespace

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

absl::Status SaveCheckpoint(const Context& context, executor::Cluster& cluster, Writer::Options options) {
  const plan::Plan& plan = context.plan;
  Processes& processes = context.processes;
  const auto model = TensorsOf(plan, plan::Buffer::PARAMETER), optimizer = TensorsOf(plan, plan::Buffer::OPTIMIZER);
  absl::StatusOr<std::unique_ptr<Writer>> writer = nullptr;
  if (processes.first()) writer = Writer::Create(options, model, optimizer);
  if (absl::Status status = processes.Agree(writer.status()); !status.ok()) return status;
  if (!processes.first()) writer = Writer::Join(options, model, optimizer);
  absl::Status written = writer.status();
  if (written.ok()) written = WriteTiles(cluster, **writer, context.request.allow_nonfinite);
  absl::StatusOr<std::string> part = "";
  if (written.ok() && !processes.first()) part = (*writer)->Finish();
  if (written.ok()) written = part.status();
  if (absl::Status status = processes.Agree(written); !status.ok()) return status;
  const absl::StatusOr<std::vector<std::string>> parts = processes.AllGather(*part);
  if (!parts.ok()) return parts.status();
  return processes.Agree(processes.first() ? Commit(**writer, *parts) : absl::OkStatus());
}

}  // namespace weft::run
