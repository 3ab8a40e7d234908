#include "tests/fuzz/train.h"

#include <chrono>
#include <cstring>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/compile.h"
#include "ops/abi/philox.h"
#include "ops/cpu_kernels.h"
#include "runtime/executor/local_cluster.h"
#include "tests/support/elements.h"

namespace weft::fuzz {
namespace {

// Tokens, labels (of which some do not count) and targets: functions of the step and the place in the whole batch, so
// that they are the same however it is cut.
class Source : public executor::BatchSource {
 public:
  Source(int64_t vocab, uint64_t seed) : vocab_(vocab), seed_(seed) {}

  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    return std::make_unique<Field>(*this, port);
  }

 private:
  class Field : public executor::BatchField {
   public:
    Field(const Source& source, const executor::Port& port)
        : source_(source), spec_(port.spec), labels_(port.name == "labels") {}

    absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) override {
      int64_t whole = 1;
      for (int64_t extent : spec_.global_dims) whole *= extent;
      const uint64_t key = MixSeed(source_.seed_, labels_ ? 1 : 0);
      tests::ForEachElement(spec_, [&](int64_t global, int64_t local) {
        const uint32_t word =
            PhiloxElement(key, static_cast<uint64_t>(step), static_cast<uint64_t>(micro_batch * whole + global));
        if (spec_.dtype == DType::kF32) {
          static_cast<float*>(tile)[local] = static_cast<float>(word % 1024) / 512 - 1;
        } else {
          const bool ignored = labels_ && word % 13 == 0;
          static_cast<int32_t*>(tile)[local] =
              ignored ? -100 : static_cast<int32_t>(word / 16 % static_cast<uint32_t>(source_.vocab_));
        }
      });
      return absl::OkStatus();
    }

   private:
    const Source& source_;
    const TensorSpec spec_;
    const bool labels_;
  };

  const int64_t vocab_;
  const uint64_t seed_;
};

absl::Status Take(const executor::StateTile& tile, const void* bytes, std::vector<float>& whole,
                  std::vector<bool>& known) {
  int64_t elements = 1;
  for (int64_t extent : tile.spec.global_dims) elements *= extent;
  whole.resize(elements);
  known.resize(elements);
  absl::Status status;
  const auto take = [&](int64_t global, int64_t local) {
    const float value = static_cast<const float*>(bytes)[local];
    if (known[global] && std::memcmp(&whole[global], &value, sizeof value) != 0) {
      status = absl::InternalError(absl::StrCat("run: ", tile.name, ": ranks disagree at element ", global));
    }
    whole[global] = value;
    known[global] = true;
  };
  tests::ForEachElement(tile.spec, take, [&](int64_t local) {
    if (static_cast<const float*>(bytes)[local] != 0) {
      status = absl::InternalError(
          absl::StrCat("run: ", tile.name, ": expected padding of 0, got ", static_cast<const float*>(bytes)[local]));
    }
  });
  return status;
}

absl::Status Collect(executor::Cluster& cluster, std::map<std::string, std::vector<float>>& state) {
  std::mutex mutex;
  std::map<std::string, std::vector<bool>> known;
  return cluster.OnEveryRank([&](executor::Executor& executor) -> absl::Status {
    for (const executor::StateTile& tile : executor.state()) {
      absl::Status saved = executor.SaveTile(tile, [&](const void* bytes) {
        std::lock_guard<std::mutex> lock(mutex);
        return Take(tile, bytes, state[tile.name], known[tile.name]);
      });
      if (!saved.ok()) return saved;
    }
    return absl::OkStatus();
  });
}

absl::Status Prefixed(const char* prefix, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(prefix, status.message()));
}

absl::StatusOr<plan::Plan> Compile(const std::string& text, const std::vector<std::string>& overrides,
                                   const Machine& machine) {
  absl::StatusOr<Job> job = ParseJob(text, "fuzz.job", overrides);
  if (!job.ok()) return job.status();
  compiler::CompileOptions options;
  options.job = *job;
  options.cluster = *LoadCluster("", {kTier});
  options.cluster.mutable_device()->set_memory_bytes(machine.search ? 0 : int64_t{1} << 32);
  if (machine.fast_links) {
    options.cluster.mutable_node()->set_link_bytes_s(1e12);
    options.cluster.mutable_node()->set_latency_s(1e-9);
  }
  absl::StatusOr<compiler::Compiled> compiled = compiler::compile(options);
  if (!compiled.ok()) return compiled.status();
  return compiled->plan;
}

}  // namespace

absl::StatusOr<Result> Train(const std::string& job, const std::vector<std::string>& overrides, int64_t vocab,
                             int steps, const Machine& machine) {
  absl::StatusOr<plan::Plan> plan = Compile(job, overrides, machine);
  if (!plan.ok()) return Prefixed("compile: ", plan.status());
  const uint64_t seed = plan->header().job().seed();
  Source source(vocab, seed);
  KernelRegistry kernels;
  RegisterCpuKernels(kernels);
  executor::ClusterOptions options;
  options.kernels = &kernels;
  options.source = &source;
  options.seed = seed;
  options.threads = 1;
  options.hang_time_out = std::chrono::seconds(120);
  auto cluster = executor::LocalCluster::Create(*plan, options);
  if (!cluster.ok()) return Prefixed("run: ", cluster.status());
  if (absl::Status status = (*cluster)->Initialize(); !status.ok()) return Prefixed("run: ", status);
  Result result;
  if (absl::Status status = Collect(**cluster, result.initial); !status.ok()) return status;
  for (int step = 0; step < steps; ++step) {
    if (absl::Status status = (*cluster)->Step(step); !status.ok()) return Prefixed("run: ", status);
    absl::StatusOr<float> loss = (*cluster)->Metric("loss");
    if (!loss.ok()) return Prefixed("run: ", loss.status());
    result.losses.push_back(*loss);
  }
  if (absl::Status status = Collect(**cluster, result.state); !status.ok()) return status;
  return result;
}

}  // namespace weft::fuzz
