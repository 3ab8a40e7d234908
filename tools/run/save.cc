#include "tools/run/save.h"

#include <map>
#include <utility>

#include "runtime/plan/enums.h"
#include "runtime/plan/stored.h"
#include "tools/run/state.h"

namespace weft::run {
namespace {

using Writer = checkpoint::CheckpointWriter;

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

}  // namespace

absl::StatusOr<std::unique_ptr<Save>> Save::Open(const Context& context, Options options) {
  const plan::Plan& plan = context.plan;
  Processes& processes = context.processes;
  const auto model = TensorsOf(plan, plan::Buffer::PARAMETER), optimizer = TensorsOf(plan, plan::Buffer::OPTIMIZER);
  std::unique_ptr<Save> save(new Save(context, std::move(options)));
  const Writer::Options& of = save->options_.of;
  absl::StatusOr<std::unique_ptr<Writer>> writer = nullptr;
  if (processes.first()) writer = Writer::Create(of, model, optimizer);
  if (absl::Status status = processes.Agree(writer.status()); !status.ok()) return status;
  if (processes.alone()) {
    save->writer_ = *std::move(writer);
    return save;
  }
  if (!processes.first()) writer = Writer::Join(of, model, optimizer);
  if (absl::Status status = processes.Agree(writer.status()); !status.ok()) return status;
  save->writer_ = *std::move(writer);
  return save;
}

absl::Status Save::Write(const executor::StateTile& tile, const void* bytes) {
  const absl::Status finite = context_.request.allow_nonfinite ? absl::OkStatus() : CheckFinite(tile, bytes);
  return finite.ok() ? writer_->Write(tile.name, tile.spec, bytes) : finite;
}

absl::Status Save::Finish() {
  if (context_.processes.first()) return absl::OkStatus();  // Commit() syncs
  absl::StatusOr<std::string> part = writer_->Finish();
  if (part.ok()) part_ = *std::move(part);
  return part.status();
}

absl::Status Save::Gather(const absl::Status& written) {
  Processes& processes = context_.processes;
  if (absl::Status status = processes.Agree(written); !status.ok()) return status;
  absl::StatusOr<std::vector<std::string>> parts = processes.AllGather(part_);
  if (parts.ok() && processes.first()) parts_ = *std::move(parts);
  return parts.status();
}

absl::Status Save::Commit() {
  for (size_t r = 1; r < parts_.size(); ++r) {  // the first one's own is empty
    if (absl::Status status = writer_->Adopt(parts_[r]); !status.ok()) return status;
  }
  if (absl::Status status = writer_->Commit(); !status.ok()) return status;
  return options_.then ? options_.then() : absl::OkStatus();
}

absl::Status SaveCheckpoint(const Context& context, executor::Cluster& cluster, Save::Options options) {
  absl::StatusOr<std::unique_ptr<Save>> save = Save::Open(context, std::move(options));
  if (!save.ok()) return save.status();
  absl::Status written = cluster.OnEveryRank([&](executor::Executor& executor) {
    for (const executor::StateTile& tile : executor.state()) {
      if (!tile.primary) continue;
      const absl::Status status =
          executor.SaveTile(tile, [&](const void* bytes) { return (*save)->Write(tile, bytes); });
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
  if (written.ok()) written = (*save)->Finish();
  if (absl::Status status = (*save)->Gather(written); !status.ok()) return status;
  return context.processes.Agree(context.processes.first() ? (*save)->Commit() : absl::OkStatus());
}

}  // namespace weft::run
