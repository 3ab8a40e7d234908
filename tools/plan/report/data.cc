#include "tools/plan/report/data.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/measure/memory.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/show/decision.h"
#include "runtime/show/print_json.h"
#include "runtime/version/version.h"
#include "tools/plan/cluster.h"
#include "tools/plan/explain.h"
#include "tools/plan/report/parts.h"
#include "tools/plan/simulate.h"
#include "tools/plan/traced.h"

namespace weft::tools {
namespace {

Json PlanJson(const plan::Plan& plan, const std::vector<plan::StageMemory>& memory, const Cluster& cluster) {
  const plan::Header& header = plan.header();
  int64_t elements = 0;
  for (const plan::StageMemory& stage : memory) elements += stage.parameter_elements;
  return {{"graph", header.graph()},
          {"target", header.target()},
          {"training", header.training()},
          {"ranks", plan::RanksAndMeshText(plan)},
          {"micro_batches", header.micro_batches()},
          {"tokens_per_step", header.tokens_per_step()},
          {"flops_per_step", header.flops_per_step()},
          {"parameters", elements},
          {"recompute", plan::RecomputeText(header)},
          {"hash", absl::StrCat(absl::Hex(header.hash(), absl::kZeroPad16))},
          {"nodes", cluster.node().count()},
          {"node_ranks", cluster.node().ranks()},
          {"memory_bytes", plan::PlanBytesOf(cluster)},
          {"job", header.job().ShortDebugString()},
          {"weft", BuiltVersion().number}};
}

// Why each alternative lost, beside it.
void AddLosses(const plan::Decision& decision, Json& json) {
  if (json.is_null()) return;
  for (int i = 0; i < decision.best_size(); ++i) {
    json["best"][i]["loss"] = plan::LossOf(decision.best(0), decision.best(i)).most;
  }
}

// What explain can set beside a trace: one with kernels, of a device that times them.
bool HasKernelTimes(const Cluster& cluster, const std::vector<Event>& events) {
  const plan::DeviceKind* kind = plan::FindDeviceKind(cluster.device().kind());
  return kind != nullptr && kind->host &&
         std::any_of(events.begin(), events.end(), [](const Event& event) { return HasKernels(event.track); });
}

Json StageMemoriesJson(const plan::Plan& plan, const std::vector<plan::StageMemory>& memory, const Cluster& cluster,
                       Json stages) {
  const int64_t room = plan::PlanBytesOf(cluster);
  for (size_t s = 0; s < memory.size(); ++s) {
    const plan::Placement& placement = plan.placements(plan.stages(static_cast<int>(s)).placement());
    stages[s]["of"] = plan::RanksText(placement);
    stages[s]["mesh"] = plan::MeshText(placement);
    stages[s]["lower_bound_bytes"] = memory[s].lower_bound_bytes;
    stages[s]["headroom_bytes"] = room > 0 ? Json(room - memory[s].arena_bytes) : Json();
    stages[s]["at_peak"] = memory[s].at_peak;
  }
  return stages;
}

}  // namespace

absl::StatusOr<Json> ReportData(const std::string& path, const plan::Plan& plan, const Cluster& cluster,
                                const std::string& trace) {
  std::vector<Event> events;
  if (!trace.empty()) {
    const Json json = ReadTrace(trace);
    if (json.is_null()) {
      return absl::InvalidArgumentError(absl::StrCat(trace, ": expected a trace of weft-run, found none"));
    }
    events = EventsOf(json);
  }
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  const absl::StatusOr<Scope> scope = Scope::Find(programs, "");
  if (!scope.ok()) return scope.status();
  const absl::StatusOr<Explanation> explanation =
      Explain(path, plan, cluster, *scope, HasKernelTimes(cluster, events) ? trace : "");
  if (!explanation.ok()) return explanation.status();
  const absl::StatusOr<sim::Report> report = Simulated(path, plan, cluster);
  if (!report.ok()) return report.status();
  const absl::StatusOr<std::vector<plan::StageMemory>> memory = plan::MeasureMemory(plan);
  if (!memory.ok()) return memory.status();
  const plan::Machine machine = plan::MachineOf(cluster);
  const sim::Costs costs = sim::CostsOf(programs, machine);
  const Reported it{plan, programs, machine, *report, costs};
  Json measured = MeasuredJson(it, events);
  if (!trace.empty() && measured.is_null()) {
    return absl::InvalidArgumentError(absl::StrCat(trace, ": expected acts of ranks of ", path, ", found none"));
  }
  std::vector<std::vector<std::vector<int>>> rows;
  Json kernels = KernelsJson(it, events, &rows);
  Json explained = ExplanationJson(plan, *explanation, *scope);
  AddLosses(plan.header().decision(), explained["decision"]);
  return Json{{"name", path},
              {"plan", PlanJson(plan, *memory, cluster)},
              {"explain", std::move(explained)},
              {"stages", StageMemoriesJson(plan, *memory, cluster, StagesJson(plan, *report))},
              {"timeline", TimelineJson(it, rows)},
              {"measured", std::move(measured)},
              {"memory", MemoryJson(it)},
              {"kernels", std::move(kernels)},
              {"roofline",
               {{"contraction_flops", machine.contraction_flops},
                {"other_flops", machine.other_flops},
                {"memory_bytes_s", machine.memory_bytes_s}}},
              {"model", ModelJson(it)},
              {"parameters", ParametersJson(it)}};
}

}  // namespace weft::tools
