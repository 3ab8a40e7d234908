#include "tools/bench/sweep_samples.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "ops/abi/status_macros.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/cluster.h"
#include "runtime/sim/simulate.h"

namespace weft::tools {

absl::StatusOr<int64_t> Sampler::Open() {
  WEFT_ASSIGN_OR_RETURN(const Job job, LoadJob(path_, overrides_));
  const Job located = LocateJob(job, path_);
  WEFT_ASSIGN_OR_RETURN(cluster_, LoadCluster(located.cluster(), {}));
  WEFT_ASSIGN_OR_RETURN(source_, compiler::ModelSource::read(located));
  return located.batch().global();
}

absl::StatusOr<Sample> Sampler::Take(compiler::Candidates& candidates, const std::string& keys, int64_t layers) const {
  std::vector<std::string> overrides = overrides_;
  overrides.push_back(absl::StrCat("model.set=layers=", layers));
  for (absl::string_view key : absl::StrSplit(keys, ' ')) overrides.emplace_back(key);
  WEFT_ASSIGN_OR_RETURN(const Job job, LoadJob(path_, overrides));
  WEFT_ASSIGN_OR_RETURN(const plan::Plan plan, candidates.planFor(LocateJob(job, path_), /*offsets=*/false));
  WEFT_ASSIGN_OR_RETURN(const sim::Report report, sim::Simulate(plan, plan::MachineOf(cluster_)));
  WEFT_ASSIGN_OR_RETURN(const std::vector<plan::StageMemory> memory, plan::MeasureMemory(plan));
  Sample sample{report.step_s, 0};
  for (const plan::StageMemory& stage : memory) sample.bytes = std::max(sample.bytes, double(stage.lower_bound_bytes));
  return sample;
}

bool Sampler::UsesContext() const {
  compiler::Candidates candidates = MakeCandidates();
  const absl::StatusOr<Sample> sample = Take(candidates, "dist.context=2", 1);
  if (!sample.ok()) std::fprintf(stderr, "without context: %s\n", std::string(sample.status().message()).c_str());
  return sample.ok();
}

}  // namespace weft::tools
