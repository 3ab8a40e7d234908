#include "tools/generate/plans.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/compile.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/load.h"
#include "tools/run/inputs.h"

namespace weft::generate {
namespace {

// The job with what is asked for, and its cluster.
absl::StatusOr<compiler::CompileOptions> OptionsOf(const PlanRequest& request, int64_t chunk) {
  std::vector<std::string> of_cluster, of_job;
  for (const std::string& text : request.overrides) (IsClusterOverride(text) ? of_cluster : of_job).push_back(text);
  WEFT_ASSIGN_OR_RETURN(const Job asked, LoadJob(request.job, of_job));
  // A batch is the prompts, and each data rank has a sequence at least.
  const int64_t ranks = std::max<int64_t>(1, asked.dist().data()) * std::max<int64_t>(1, asked.dist().expert());
  const int64_t batch = std::max(request.sequences, ranks);
  of_job.push_back(
      absl::StrCat("model.graph=", request.graph.empty() ? GraphOf(asked.model().graph()) : request.graph));
  of_job.push_back(absl::StrCat("batch.global=", batch));
  of_job.push_back(absl::StrCat("batch.micro=", batch));
  of_job.push_back(absl::StrCat("generate.chunk=", chunk));
  compiler::CompileOptions options;
  WEFT_ASSIGN_OR_RETURN(options.job, LoadJob(request.job, of_job));
  options.jobFile = request.job;
  const Job located = LocateJob(options.job, request.job);
  WEFT_ASSIGN_OR_RETURN(options.cluster, LoadCluster(located.cluster(), of_cluster));
  WEFT_RETURN_IF_ERROR(CheckOnCluster(located, options.cluster));
  return options;
}

absl::StatusOr<plan::Plan> Compile(const PlanRequest& request, int64_t chunk) {
  WEFT_ASSIGN_OR_RETURN(const compiler::CompileOptions options, OptionsOf(request, chunk));
  WEFT_ASSIGN_OR_RETURN(compiler::Compiled compiled, compiler::compile(options));
  return std::move(compiled.plan);
}

}  // namespace

std::string GraphOf(const std::string& graph) {
  return graph.empty() ? "logits" : absl::StrReplaceAll(graph, {{"train", "logits"}});
}

absl::StatusOr<plan::Plan> CompilePlan(const PlanRequest& request, int64_t chunk, run::Processes& processes) {
  absl::StatusOr<plan::Plan> plan = plan::Plan();
  if (processes.first()) plan = Compile(request, chunk);
  WEFT_RETURN_IF_ERROR(processes.Agree(plan.status()));
  if (!processes.first()) plan = Compile(request, chunk);
  WEFT_RETURN_IF_ERROR(processes.Agree(plan.status()));
  WEFT_RETURN_IF_ERROR(processes.CheckSame({{"plan: hash", absl::StrCat(absl::Hex(plan::HashOf(*plan)))}}));
  return plan;
}

absl::StatusOr<Facts> FactsOf(const plan::Plan& plan) {
  Facts facts;
  for (const plan::Stage& stage : plan.stages()) {
    const plan::Placement& placement = plan.placements(stage.placement());
    for (const plan::Buffer& buffer : stage.buffers()) {
      if (buffer.kind() != plan::Buffer::CACHE || buffer.alias_of() != 0) continue;
      facts.length = plan::UnpaddedShape(buffer)[1];
      facts.cache_bytes += plan::LocalBytes(placement, buffer) * placement.ranks_size();
    }
  }
  const std::string graph = absl::StrCat("graph @", plan.header().graph(), ": ");
  if (facts.length == 0) {
    return absl::InvalidArgumentError(absl::StrCat(graph, "expected causal attention, got none"));
  }
  const std::vector<run::InputInfo> outputs = run::OutputsOf(plan);
  if (outputs.size() != 1 || outputs[0].dtype != plan::F32 || outputs[0].shape.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat(graph, "expected one output, logits f32 [batch, sequence, vocabulary], got ",
                     outputs.size() == 1 ? "another one" : absl::StrCat(outputs.size(), " outputs")));
  }
  facts.vocabulary = outputs[0].shape[2];
  return facts;
}

}  // namespace weft::generate
