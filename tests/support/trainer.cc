#include "tests/support/trainer.h"

#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/compile.h"
#include "ops/cpu_kernels.h"
#include "runtime/checkpoint/safetensors_reader.h"
#include "runtime/executor/local_cluster.h"
#include "tools/run/sources.h"

namespace weft::tests {
namespace {

absl::Status LoadParameters(const std::string& path, executor::Cluster& cluster) {
  auto reader = checkpoint::SafetensorsReader::Open(path);
  if (!reader.ok()) return reader.status();
  return cluster.OnEveryRank([&](executor::Executor& executor) -> absl::Status {
    for (const executor::StateTile& tile : executor.state()) {
      if (tile.optimizer) continue;
      auto entry = (*reader)->Find(tile.name);
      if (!entry.ok()) return entry.status();
      absl::Status loaded = executor.LoadTile(tile, [&](void* out) {
        return (*reader)->Read(**entry, tile.spec, tile.stored_shape, checkpoint::Conversion::kNone, out);
      });
      if (!loaded.ok()) return loaded;
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<plan::Plan> CompileJob(const std::string& path, const std::vector<std::string>& overrides,
                                      const std::string& cluster_file, uint32_t memory_seed) {
  absl::StatusOr<Job> job = LoadJob(path, overrides);
  if (!job.ok()) return job.status();
  compiler::CompileOptions options;
  options.job = *job;
  options.jobFile = path;
  options.memorySeed = memory_seed;
  absl::StatusOr<Cluster> cluster = LoadCluster(cluster_file);
  if (!cluster.ok()) return cluster.status();
  options.cluster = *std::move(cluster);
  absl::StatusOr<compiler::Compiled> compiled = compiler::compile(options);
  if (!compiled.ok()) return compiled.status();
  return compiled->plan;
}

absl::StatusOr<std::vector<StepReport>> Train(const TrainOptions& options) {
  absl::StatusOr<plan::Plan> plan = CompileJob(options.job, options.overrides, options.cluster);
  if (!plan.ok()) return plan.status();
  const Job& job = plan->header().job();
  const auto data = run::OpenData(*plan, options.data, {.seed = job.seed(), .steps = options.steps});
  if (!data.ok()) return data.status();
  KernelRegistry kernels;
  RegisterCpuKernels(kernels);
  executor::ClusterOptions cluster_options;
  cluster_options.kernels = options.kernels != nullptr ? options.kernels : &kernels;
  cluster_options.host_kernels = &kernels;
  cluster_options.device = options.device;
  cluster_options.source = data->source.get();
  cluster_options.seed = job.seed();
  cluster_options.threads = options.threads;
  cluster_options.graphs = options.graphs;
  cluster_options.tier_folder = options.tier_folder;
  absl::StatusOr<std::unique_ptr<executor::Cluster>> cluster;
  if (options.make_cluster) {
    cluster = options.make_cluster(*plan, cluster_options);
  } else {
    cluster = executor::LocalCluster::Create(*plan, cluster_options);
  }
  if (!cluster.ok()) return cluster.status();
  if (absl::Status status = (*cluster)->Initialize(); !status.ok()) return status;
  if (!options.init.empty()) {
    if (absl::Status status = LoadParameters(options.init, **cluster); !status.ok()) return status;
  }
  if (options.restore) {
    if (absl::Status status = (*cluster)->OnEveryRank(options.restore); !status.ok()) return status;
  }
  std::vector<StepReport> reports;
  for (int step = options.first_step; step < options.first_step + options.steps; ++step) {
    if (absl::Status status = (*cluster)->Step(step); !status.ok()) return status;
    absl::StatusOr<float> loss = (*cluster)->Metric("loss"), norm = (*cluster)->Metric("grad_norm");
    if (!loss.ok()) return loss.status();
    if (!norm.ok()) return norm.status();
    reports.push_back({*loss, *norm});
    if (options.inspect) {
      if (absl::Status status = (*cluster)->OnEveryRank(options.inspect); !status.ok()) return status;
    }
    if (options.after_step) options.after_step();
  }
  return reports;
}

}  // namespace weft::tests
