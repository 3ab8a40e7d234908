#include "compiler/job/job.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/job/axes.h"
#include "compiler/job/text.h"
#include "runtime/plan/read_file.h"

namespace weft {
namespace {

// `path` as seen from the folder of the file `from`.
std::string RelativeTo(const std::string& from, const std::string& path) {
  if (path.empty()) {
    return path;
  }
  return (std::filesystem::path(from).parent_path() / path).lexically_normal().string();
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
  if (pipeline->chunks() == 0) {
    pipeline->set_chunks(two && pipeline->schedule_file().empty() ? 2 : 1);
  }
  for (Dist& stage : *pipeline->mutable_stages()) {
    ResolveDist(&stage);
  }
}

void ResolveAdam(Adam* adam) {
  adam->set_beta1(adam->has_beta1() ? adam->beta1() : 0.9);
  adam->set_beta2(adam->has_beta2() ? adam->beta2() : 0.999);
  adam->set_eps(adam->has_eps() ? adam->eps() : 1e-8);
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

void ResolveJob(Job* job) {
  DropOverridden(job->mutable_model());
  Batch* batch = job->mutable_batch();
  if (batch->micro() == 0) {
    batch->set_micro(batch->global() == 0 ? 1 : batch->global());
  }
  if (batch->global() == 0) {
    batch->set_global(batch->micro());
  }
  if (job->has_optimizer()) {
    Optimizer* optimizer = job->mutable_optimizer();
    if (optimizer->has_adam()) {
      ResolveAdam(optimizer->mutable_adam());
    }
    if (optimizer->has_adamw()) {
      ResolveAdam(optimizer->mutable_adamw());
    }
    if (optimizer->schedule().kind_case() == Schedule::KIND_NOT_SET) {
      optimizer->mutable_schedule()->mutable_constant();
    }
  }
  if (job->precision().compute() == F16) {
    ResolveLossScale(job->mutable_precision()->mutable_loss_scale());
  }
  ResolveDist(job->mutable_dist());
  if (job->has_pipeline() || job->dist().pipeline() > 1) {
    ResolvePipeline(job->mutable_pipeline());
  }
}

int64_t MicroBatches(const Batch& batch) { return batch.global() / batch.micro(); }

absl::StatusOr<Job> ParseJob(const std::string& text, const std::string& path,
                             const std::vector<std::string>& overrides) {
  Job job;
  if (absl::Status status = ParseText(text, path, &job); !status.ok()) {
    return status;
  }
  for (const std::string& override_text : overrides) {
    if (absl::Status status = ApplyOverride(override_text, &job); !status.ok()) {
      return status;
    }
  }
  ResolveJob(&job);
  if (absl::Status status = ValidateJob(job); !status.ok()) {
    return At(path, status);
  }
  job.mutable_model()->set_file(RelativeTo(path, job.model().file()));
  job.set_cluster(RelativeTo(path, job.cluster()));
  if (!job.pipeline().schedule_file().empty()) {
    job.mutable_pipeline()->set_schedule_file(RelativeTo(path, job.pipeline().schedule_file()));
  }
  return job;
}

absl::StatusOr<Job> LoadJob(const std::string& path, const std::vector<std::string>& overrides) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": expected a job file, found none"));
  }
  const absl::StatusOr<std::string> text = plan::ReadText(path);
  if (!text.ok()) {
    return text.status();
  }
  return ParseJob(*text, path, overrides);
}

}  // namespace weft
