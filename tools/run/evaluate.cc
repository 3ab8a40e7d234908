#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/run/cluster.h"
#include "tools/run/evaluate_data.h"
#include "tools/run/init.h"
#include "tools/run/inputs.h"
#include "tools/run/results.h"
#include "tools/run/sources.h"
#include "tools/run/train.h"

namespace weft::run {

namespace {

absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenInputs(const Context& context) {
  if (!context.request.inputs.empty()) return OpenTensors(context.request.inputs);
  const auto inputs = InputsOf(context.plan);
  if (inputs.empty()) return nullptr;
  return absl::InvalidArgumentError(
      absl::StrCat("--inputs: expected a file, or --data, as the plan reads `", inputs[0].name, "`, got none"));
}

}  // namespace

absl::Status Evaluate(const Context& context) {
  const Request& request = context.request;
  if (!request.data.empty()) return EvaluateData(context);
  const auto source = OpenInputs(context);
  if (absl::Status status = context.processes.Agree(source.status()); !status.ok()) return status;
  const absl::StatusOr<InitialParameters> init = InitialParameters::Open(context);
  if (!init.ok()) return init.status();
  context.Tell(init->text());
  Results results;
  const auto opened = TimelineFor(context);
  if (!opened.ok()) return opened.status();
  trace::Timeline* const timeline = opened->get();
  const uint64_t seed = request.seed.value_or(context.plan.header().job().seed());
  auto cluster = StartCluster(context, seed, source->get(), &results, timeline, init->loaded());
  if (!cluster.ok()) return cluster.status();
  if (absl::Status status = init->Load(context, **cluster); !status.ok()) return status;
  if (absl::Status status = (*cluster)->Step(0); !status.ok()) return status;
  if (!request.outputs.empty()) {
    if (absl::Status status = results.Write(context, request.outputs); !status.ok()) return status;
  }
  if (request.show_shards || (request.outputs.empty() && !request.quiet)) {
    if (absl::Status status = results.Print(context); !status.ok()) return status;
  }
  return timeline == nullptr ? absl::OkStatus() : WriteTimeline(context, *timeline, false);
}

}  // namespace weft::run
