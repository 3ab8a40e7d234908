#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/device/cuda/attention.h"

namespace weft::device {
namespace {

using namespace cuda::dnn;  // NOLINT(google-build-using-namespace): the library's words, on every line
using cuda::Handle;

// The configurations that the heuristics have in one mode, best first.
absl::StatusOr<std::vector<CudnnDescriptor>> ConfigsOf(const Cudnn& library, const CudnnDescriptor& graph, int mode,
                                                       const CudnnDescriptor* device) {
  absl::StatusOr<CudnnDescriptor> heuristics = CudnnDescriptor::Create(library, kHeuristics);
  if (!heuristics.ok()) return heuristics.status();
  absl::Status status = heuristics->SetDescriptors(kHeuristicsGraph, {graph.get()});
  if (status.ok()) status = heuristics->SetEnum(kHeuristicsMode, kHeuristicModeType, mode);
  if (status.ok() && device != nullptr) status = heuristics->SetDescriptors(kHeuristicsDevice, {device->get()});
  if (status.ok()) status = heuristics->Finalize();
  int64_t count = 0;
  if (status.ok()) {
    status = library.Explain(
        library.GetAttribute(heuristics->get(), kHeuristicsResults, kDescriptorType, 0, &count, nullptr),
        "cuDNN heuristics");
  }
  std::vector<CudnnDescriptor> configs;
  std::vector<Handle> handles;
  for (int64_t i = 0; i < count && status.ok(); ++i) {
    absl::StatusOr<CudnnDescriptor> config = CudnnDescriptor::Create(library, kEngineConfig);
    if (!config.ok()) return config.status();
    handles.push_back(config->get());
    configs.push_back(*std::move(config));
  }
  int64_t filled = 0;
  if (status.ok() && count > 0) {
    status = library.Explain(
        library.GetAttribute(heuristics->get(), kHeuristicsResults, kDescriptorType, count, &filled, handles.data()),
        "cuDNN heuristics");
  }
  if (!status.ok()) return status;
  configs.erase(configs.begin() + std::min(filled, count), configs.end());
  return configs;
}

absl::StatusOr<int64_t> EngineOf(const Cudnn& library, const CudnnDescriptor& config) {
  const absl::StatusOr<CudnnDescriptor> engine = CudnnDescriptor::Create(library, kEngine);
  if (!engine.ok()) return engine.status();
  Handle handle = engine->get();
  int64_t count = 0;
  const absl::Status status = library.Explain(
      library.GetAttribute(config.get(), kConfigEngine, kDescriptorType, 1, &count, &handle), "cuDNN engine");
  if (!status.ok()) return status;
  return engine->GetInt(kEngineIndex);
}

absl::StatusOr<AttentionPlan> PlanOf(const Cudnn& library, Handle handle, const CudnnDescriptor* device,
                                     const AttentionGraph& graph, const CudnnDescriptor& config) {
  const absl::StatusOr<int64_t> engine = EngineOf(library, config);
  if (!engine.ok()) return engine.status();
  absl::StatusOr<CudnnDescriptor> plan = CudnnDescriptor::Create(library, kPlan);
  if (!plan.ok()) return plan.status();
  absl::Status status = plan->SetDescriptors(kPlanConfig, {config.get()});
  if (status.ok() && handle != nullptr) status = plan->Set(kPlanHandle, kHandleType, 1, &handle);
  if (status.ok() && device != nullptr) status = plan->SetDescriptors(kPlanDevice, {device->get()});
  if (status.ok()) status = plan->Finalize();
  if (!status.ok()) return status;
  const absl::StatusOr<int64_t> bytes = plan->GetInt(kPlanWorkspaceBytes);
  if (!bytes.ok()) return bytes.status();
  return AttentionPlan{graph, config, *std::move(plan), *engine, static_cast<size_t>(*bytes)};
}

}  // namespace

absl::Status OfferPlans(const Cudnn& library, Handle handle, const CudnnDescriptor* device,
                        const GpuAttentionSpec& spec, bool deterministic,
                        const std::function<bool(AttentionPlan)>& take) {
  const absl::StatusOr<AttentionGraph> graph = MakeAttentionGraph(library, handle, spec, deterministic);
  if (!graph.ok()) return graph.status();
  absl::Status refused = absl::UnimplementedError("its heuristics have no engine");
  for (const int mode : {kModeFirst, kModeFallback}) {
    const absl::StatusOr<std::vector<CudnnDescriptor>> configs =
        ConfigsOf(library, graph->graph.descriptor, mode, device);
    if (!configs.ok()) {
      refused = configs.status();
      continue;
    }
    for (const CudnnDescriptor& config : *configs) {
      absl::StatusOr<AttentionPlan> plan = PlanOf(library, handle, device, *graph, config);
      if (!plan.ok()) {
        refused = plan.status();
      } else if (take(*std::move(plan))) {
        return absl::OkStatus();
      }
    }
  }
  return refused;
}

}  // namespace weft::device
