// What layouts of a job take, by compiling them.
#ifndef WEFT_TOOLS_BENCH_SWEEP_SAMPLES_H_
#define WEFT_TOOLS_BENCH_SWEEP_SAMPLES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/model_source.h"
#include "runtime/plan/cluster.pb.h"

namespace weft::tools {

// What a job takes, without offsets: its step, and the least bytes that its rank can do with.
struct Sample {
  double step_s = 0, bytes = 0;
};

// For one thread.
class Sampler {
 public:
  Sampler(std::string job, std::vector<std::string> overrides)
      : path_(std::move(job)), overrides_(std::move(overrides)) {}

  // Reads the job, its model and its cluster, before all else; the sequences of a step.
  absl::StatusOr<int64_t> Open();

  const Cluster& cluster() const { return cluster_; }

  // Keeps what layouts share, for Take(); this outlives it.
  compiler::Candidates MakeCandidates() const { return {source_->module(), cluster_}; }

  // Of the layout with these keys, and so many layers.
  absl::StatusOr<Sample> Take(compiler::Candidates& candidates, const std::string& keys, int64_t layers) const;

  // A model that does not use the axis `context` is refused with ranks along it.
  bool UsesContext() const;

 private:
  const std::string path_;
  const std::vector<std::string> overrides_;
  Cluster cluster_;
  std::unique_ptr<compiler::ModelSource> source_;
};

}  // namespace weft::tools

#endif  // WEFT_TOOLS_BENCH_SWEEP_SAMPLES_H_
