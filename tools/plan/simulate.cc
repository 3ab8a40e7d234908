#include "tools/plan/simulate.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/measure/figures.h"
#include "runtime/plan/names.h"
#include "runtime/show/figures.h"
#include "runtime/show/print_json.h"
#include "runtime/show/table.h"
#include "runtime/sim/simulate.h"
#include "runtime/sim/timeline.h"
#include "runtime/trace/file.h"
#include "tools/plan/cluster.h"
#include "tools/plan/events.h"

namespace weft::tools {
namespace {

std::string Text(const absl::Status& status) { return std::string(status.message().data(), status.message().size()); }

// A step of a plan, and the cluster that it is for.
struct Step {
  Cluster cluster;
  sim::Report report;
  plan::Figures figures;
};

absl::StatusOr<Step> StepOf(const std::string& path, const plan::Plan& plan, const SimulateRequest& request) {
  Step step;
  absl::StatusOr<Cluster> cluster = ClusterOf(path, plan, request.cluster_keys);
  if (!cluster.ok()) return cluster.status();
  step.cluster = *std::move(cluster);
  absl::StatusOr<sim::Report> report = Simulated(path, plan, step.cluster, {request.unit_times});
  if (!report.ok()) return report.status();
  step.report = *std::move(report);
  step.figures = plan::FiguresOf(plan, sim::PredictionOf(step.report), step.cluster);
  if (request.unit_times)
    step.figures.tokens_per_s = step.figures.tokens_per_s_device = step.figures.mfu = std::nullopt;
  return step;
}

std::string JsonOf(const plan::Plan& plan, const Step& step, bool unit_times) {
  const sim::Report& report = step.report;
  Json json = plan::FiguresJson(step.figures);
  json["unit_times"] = unit_times;
  json["waiting_s"] = report.waiting_s;
  json["stages"] = StagesJson(plan, report);
  return plan::JsonText(json);
}

std::string TextOf(const plan::Plan& plan, const Step& step, bool unit_times) {
  const sim::Report& report = step.report;
  const auto time = [&](double seconds) {
    return unit_times ? absl::StrFormat("%.6g", seconds) : plan::SecondsText(seconds);
  };
  plan::Table head(0);
  head.Add({unit_times ? "step in units" : "step", time(report.step_s)});
  for (std::vector<std::string>& row : plan::FigureRows(step.figures)) head.Add(std::move(row));
  head.Add({"bubble", plan::ShareText(report.bubble_fraction)});
  head.Add({"exposed communication", time(report.exposed_comm_s)});
  head.Add({"waiting", time(report.waiting_s)});
  plan::Table table(2, {0, 2, 3, 4, 5, 6, 7});
  table.Add({"stage", "ranks", "compute", "communication", "exposed", "waiting", "sent", "peak"});
  for (size_t s = 0; s < report.stages.size(); ++s) {
    const sim::StageReport& simulated = report.stages[s];
    const plan::Stage& stage = plan.stages(static_cast<int>(s));
    table.Add({absl::StrCat(s), plan::RanksText(plan.placements(stage.placement())), time(simulated.compute_s),
               time(simulated.communication_s), time(simulated.exposed_comm_s), time(simulated.waiting_s),
               plan::BytesText(static_cast<int64_t>(std::min(simulated.sent_bytes, 9e18))),
               plan::BytesText(simulated.peak_bytes)});
  }
  return absl::StrCat(head.Text(), "a rank of each stage\n", table.Text());
}

// Where a process stands among the others: beside each rank what was predicted for it.
int64_t PlaceOf(int64_t process) {
  return process >= sim::kPredictedProcess ? 2 * (process - sim::kPredictedProcess) + 1 : 2 * process;
}

// The events of a measured trace and of a predicted one, whose step begins when
// the last measured one does.
Json Merged(Json measured, const plan::Plan& plan, const sim::Report& report) {
  Json merged = std::move(measured);
  Json& events = merged["traceEvents"];
  double step = -1, origin = std::numeric_limits<double>::max();
  for (const Json& event : events) step = std::max(step, StepNumberOf(event));
  for (const Json& event : events) {
    if (StepNumberOf(event) == step) origin = std::min(origin, NumberOf(event, "ts", 0));
  }
  Json predicted = Json::parse(sim::TimelineOf(plan, report, static_cast<int64_t>(step) - 1).ToJson());
  for (Json& event : predicted["traceEvents"]) {
    if (event.contains("ts")) event["ts"] = NumberOf(event, "ts", 0) + origin;
    events.push_back(std::move(event));
  }
  for (Json& event : events) {
    if (!Is(event, "name", "process_sort_index")) continue;
    event["args"]["sort_index"] = PlaceOf(static_cast<int64_t>(NumberOf(event, "pid", 0)));
  }
  return merged;
}

}  // namespace

Json StagesJson(const plan::Plan& plan, const sim::Report& report) {
  Json stages = Json::array();
  for (size_t s = 0; s < report.stages.size(); ++s) {
    const sim::StageReport& stage = report.stages[s];
    const int32_t placement = plan.stages(static_cast<int>(s)).placement();
    stages.push_back({{"stage", s},
                      {"ranks", plan.placements(placement).ranks_size()},
                      {"compute_s", stage.compute_s},
                      {"communication_s", stage.communication_s},
                      {"exposed_comm_s", stage.exposed_comm_s},
                      {"waiting_s", stage.waiting_s},
                      {"sent_bytes", stage.sent_bytes},
                      {"peak_bytes", stage.peak_bytes}});
  }
  return stages;
}

Outcome RunSimulate(const std::string& path, const plan::Plan& plan, bool json, const SimulateRequest& request) {
  const absl::StatusOr<Step> step = StepOf(path, plan, request);
  if (!step.ok()) return {"", Text(step.status()), 2};
  return {json ? JsonOf(plan, *step, request.unit_times) : TextOf(plan, *step, request.unit_times), "", 0};
}

Outcome RunTimeline(const std::string& path, const plan::Plan& plan, const SimulateRequest& request) {
  const absl::StatusOr<Step> step = StepOf(path, plan, request);
  if (!step.ok()) return {"", Text(step.status()), 2};
  std::string json;
  if (!request.with.empty()) {
    Json measured = ReadTrace(request.with);
    if (measured.is_null()) return {"", absl::StrCat(request.with, ": expected a trace of weft-run, found none"), 2};
    json = Merged(std::move(measured), plan, step->report).dump() + "\n";
  } else if (!request.output.empty()) {
    json = sim::TimelineOf(plan, step->report, 0).ToJson();
  }
  if (json.empty()) {
    return {sim::TimelineText(plan, step->report, {request.unit_times, request.columns, request.width}), "", 0};
  }
  if (request.output.empty()) return {json, "", 0};
  if (absl::Status status = trace::WriteFile(request.output, json); !status.ok()) return {"", Text(status), 2};
  return {absl::StrCat(request.output, ": written\n"), "", 0};
}

}  // namespace weft::tools
