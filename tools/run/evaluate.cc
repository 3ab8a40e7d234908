#include <memory>

#include "absl/strings/str_cat.h"
#include "tools/run/cluster.h"
#include "tools/run/results.h"
#include "tools/run/sources.h"
#include "tools/run/state.h"
#include "tools/run/train.h"

namespace weft::run {

absl::Status Evaluate(const Context& context) {
  const Request& request = context.request;
  std::unique_ptr<executor::BatchSource> source;
  if (!request.inputs.empty()) {
    auto tensors = OpenTensors(request.inputs);
    if (!tensors.ok()) return tensors.status();
    source = *std::move(tensors);
  } else if (const auto inputs = InputsOf(context.plan); !inputs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--inputs: expected a file, as the plan reads `", inputs[0].name, "`, got none"));
  }
  Results results;
  const auto opened = TimelineFor(context);
  if (!opened.ok()) return opened.status();
  trace::Timeline* const timeline = opened->get();
  const uint64_t seed = request.seed.value_or(context.plan.header().job().seed());
  auto cluster = StartCluster(context, seed, source.get(), &results, timeline);
  if (!cluster.ok()) return cluster.status();
  if (!request.init.empty()) {
    const auto& prefixes = context.plan.header().job().checkpoint().prefixes();
    const absl::Status loaded = LoadParameters(**cluster, request.init, {prefixes.begin(), prefixes.end()});
    if (!loaded.ok()) return loaded;
  }
  if (absl::Status status = (*cluster)->Step(0); !status.ok()) return status;
  if (!request.outputs.empty()) {
    if (absl::Status status = results.Write(request.outputs); !status.ok()) return status;
  }
  if (request.show_shards || (request.outputs.empty() && !request.quiet)) results.Print(context.out);
  return timeline == nullptr ? absl::OkStatus() : WriteTimeline(context, *timeline, false);
}

}  // namespace weft::run
