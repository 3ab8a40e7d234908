#include "compiler/job/job.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/job/axes.h"
#include "compiler/job/numbers.h"
#include "compiler/job/optimizer.h"
#include "compiler/job/text.h"
#include "google/protobuf/text_format.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/read_file.h"

namespace weft {
namespace {

// Does `change` to every path that a job names.
template <typename Change>
void ForPaths(Job* job, const Change& change) {
  change(job->mutable_model()->mutable_file());
  change(job->mutable_cluster());
  if (job->has_pipeline()) {
    change(job->mutable_pipeline()->mutable_schedule_file());
  }
}

// Keeps the last setting of every name, where the first one stood.
void DropOverridden(Model* model) {
  std::map<std::string, int> places;
  std::vector<std::string> kept;
  for (const std::string& setting : model->set()) {
    auto [it, is_new] = places.emplace(setting.substr(0, setting.find('=')), int(kept.size()));
    if (is_new) {
      kept.push_back(setting);
    } else {
      kept[it->second] = setting;
    }
  }
  model->mutable_set()->Clear();
  for (std::string& setting : kept) {
    *model->add_set() = std::move(setting);
  }
}

void ResolveDist(Dist* dist) {
  for (const MeshAxis& axis : kMeshAxes) {
    if (axis.size != nullptr && (dist->*axis.size)() == 0) {
      (dist->*axis.set_size)(1);
    }
  }
  dist->set_pipeline(dist->pipeline() == 0 ? 1 : dist->pipeline());
}

void ResolvePipeline(Pipeline* pipeline) {
  const bool two =
      pipeline->schedule() == INTERLEAVED || (pipeline->schedule() == ZERO_BUBBLE && pipeline->form() == V);
  if (pipeline->schedule() == ONE_F_ONE_B) {
    pipeline->clear_schedule();
  }
  if (pipeline->chunks() == 0) {
    pipeline->set_chunks(two && pipeline->schedule_file().empty() ? 2 : 1);
  }
  for (Dist& stage : *pipeline->mutable_stages()) {
    ResolveDist(&stage);
  }
}

// What graph.auto_parallel chooses instead. What is set to its default is as if it were absent: one plan, one text.
void ResolveLayout(Job* job) {
  Batch* batch = job->mutable_batch();
  if (batch->micro() == 0) {
    batch->set_micro(batch->global() == 0 ? 1 : batch->global());
  }
  if (batch->global() == 0) {
    batch->set_global(batch->micro());
  }
  ResolveDist(job->mutable_dist());
  if (job->has_pipeline() || job->dist().pipeline() > 1) {
    ResolvePipeline(job->mutable_pipeline());
  }
  if (job->zero().stage() == 0 && job->zero().has_stage()) {
    job->mutable_zero()->clear_stage();
  }
  if (job->recompute().policy() == Recompute::NONE && job->recompute().has_policy()) {
    job->mutable_recompute()->clear_policy();
  }
}

void ResolveLossScale(LossScale* scale) {
  scale->set_initial(scale->has_initial() ? scale->initial() : 65536);
  scale->set_growth_factor(scale->has_growth_factor() ? scale->growth_factor() : 2);
  scale->set_backoff_factor(scale->has_backoff_factor() ? scale->backoff_factor() : 0.5);
  scale->set_growth_interval(scale->has_growth_interval() ? scale->growth_interval() : 2000);
  // An initial scale beyond the usual bounds moves them.
  scale->set_min(scale->has_min() ? scale->min() : std::min(1.0, scale->initial()));
  scale->set_max(scale->has_max() ? scale->max() : std::max(16777216.0, scale->initial()));
}

absl::Status At(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

}  // namespace

bool Offloads(const Recompute& recompute) {
  return recompute.offload() || std::any_of(recompute.layers().begin(), recompute.layers().end(),
                                            [](const Recompute::Layer& layer) { return layer.offload(); });
}

bool MayOffload(const Recompute& recompute) {
  return Offloads(recompute) || (recompute.policy() == Recompute::AUTO && !recompute.has_offload());
}

void ResolveJob(Job* job) {
  DropOverridden(job->mutable_model());
  if (job->has_optimizer()) {
    ResolveOptimizer(job->mutable_optimizer());
  }
  for (int i = 0; i < job->data().augment_size(); ++i) {
    if (job->data().augment(i).has_resized_crop()) {
      FillNumbers(job->mutable_data()->mutable_augment(i)->mutable_resized_crop());
    }
  }
  if (job->precision().compute() == F16) {
    ResolveLossScale(job->mutable_precision()->mutable_loss_scale());
  }
  if (job->graph().auto_parallel()) {
    FillNumbers(job->mutable_auto_());
  } else {
    ResolveLayout(job);
  }
}

int64_t MicroBatches(const Batch& batch) { return (batch.global() + batch.micro() - 1) / batch.micro(); }

absl::StatusOr<Job> ParseJob(const std::string& text, const std::string& path,
                             const std::vector<std::string>& overrides) {
  Job job;
  WEFT_RETURN_IF_ERROR(ParseText(text, path, &job));
  for (const std::string& override_text : overrides) {
    WEFT_RETURN_IF_ERROR(ApplyOverride(override_text, &job));
  }
  ResolveJob(&job);
  if (absl::Status status = ValidateJob(job); !status.ok()) {
    return At(path, status);
  }
  // One path, one text.
  ForPaths(&job, [](std::string* file) { *file = std::filesystem::path(*file).lexically_normal().string(); });
  return job;
}

Job LocateJob(Job job, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  ForPaths(&job, [&](std::string* file) {
    if (!file->empty()) {
      *file = (folder / *file).lexically_normal().string();
    }
  });
  return job;
}

std::string MessageText(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

absl::StatusOr<Job> LoadJob(const std::string& path, const std::vector<std::string>& overrides) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": expected a job file, found none"));
  }
  if (absl::EndsWith(path, ".mlir")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": expected a job file, got a model file; a job that names it begins with\n  model { file: \"",
        std::filesystem::path(path).filename().string(), "\" }"));
  }
  WEFT_ASSIGN_OR_RETURN(const std::string text, plan::ReadText(path));
  return ParseJob(text, path, overrides);
}

}  // namespace weft
