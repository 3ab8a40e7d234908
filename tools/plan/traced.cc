#include "tools/plan/traced.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/devices.h"
#include "runtime/plan/program.h"
#include "runtime/sim/costs.h"
#include "tools/plan/events.h"

namespace weft::tools {

std::string TracedName(const plan::Actor& actor, int kernel) {
  return absl::StrCat(actor.name(), "/", kernel, " ", actor.kernels(kernel).name());
}

bool HasKernels(const std::string& track) { return absl::EndsWith(track, " kernels"); }

std::vector<std::vector<double>> Stretches(const sim::Report& report, const sim::Costs& costs) {
  std::vector<std::vector<double>> seconds, stretches;
  std::vector<std::vector<int>> acts;
  for (const auto& stage : costs) {
    seconds.emplace_back(stage.size(), 0);
    acts.emplace_back(stage.size(), 0);
    stretches.emplace_back(stage.size(), 1);
  }
  for (const sim::TimedAct& act : report.acts) {
    seconds[act.stage][act.actor] += act.end_s - act.begin_s;
    ++acts[act.stage][act.actor];
  }
  for (size_t s = 0; s < costs.size(); ++s) {
    for (size_t a = 0; a < costs[s].size(); ++a) {
      const double alone = costs[s][a].seconds * acts[s][a];
      if (alone > 0) stretches[s][a] = seconds[s][a] / alone;
    }
  }
  return stretches;
}

double MedianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

namespace {

// What was predicted for an event of a rank, by its name in the trace.
struct Predicted {
  std::string family;  // the kernel's name; empty: an act that runs kernels
  double seconds = 0;  // of a kernel without its launch; of an act that of all its launches
};

// By name, those of one stage.
using OfStage = std::map<std::string, Predicted>;

std::vector<OfStage> PredictedOf(const std::vector<plan::Program>& programs, const plan::Machine& machine,
                                 const sim::Report& report) {
  const std::vector<std::vector<double>> stretches = Stretches(report, sim::CostsOf(programs, machine));
  std::vector<OfStage> stages;
  for (const plan::Program& program : programs) {
    OfStage& of = stages.emplace_back();
    const std::vector<std::vector<double>> seconds = sim::KernelSecondsOf(program, machine);
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
      const plan::Actor& actor = program.actor(a);
      const double stretch = stretches[program.index][a];
      if (actor.kernels_size() > 0)
        of[actor.name()] = {"", stretch * plan::LaunchSeconds(machine) * actor.kernels_size()};
      for (int k = 0; k < actor.kernels_size(); ++k) {
        of[TracedName(actor, k)] = {actor.kernels(k).name(), stretch * (seconds[a][k] - plan::LaunchSeconds(machine))};
      }
    }
  }
  return stages;
}

// Seconds of a step, all ranks together.
struct StepSums {
  std::map<std::string, TracedFamily> families;
  TracedFamily launches;
  double begin = HUGE_VAL, end = 0;
};

void Add(double predicted, double traced, TracedFamily& to) {
  ++to.runs;
  to.predicted_s += predicted;
  to.traced_s += traced;
}

void Add(const Event& event, const Predicted& predicted, StepSums& step) {
  const double seconds = event.end_s - event.begin_s;
  if (predicted.family.empty()) {
    Add(predicted.seconds, seconds, step.launches);
    return;
  }
  Add(predicted.seconds, seconds, step.families.try_emplace(predicted.family).first->second);
  // An act's seconds hold those of its kernels.
  step.launches.traced_s -= seconds;
}

// The medians over the steps; what was predicted is the same in each.
TracedFamily Middle(const std::vector<TracedFamily>& steps, double ranks) {
  std::vector<double> runs, predicted, traced;
  for (const TracedFamily& step : steps) {
    runs.push_back(step.runs / ranks);
    predicted.push_back(step.predicted_s / ranks);
    traced.push_back(step.traced_s / ranks);
  }
  return {"", MedianOf(runs), MedianOf(predicted), MedianOf(traced)};
}

Traced TracedOf(const std::map<int64_t, StepSums>& steps, double ranks, double step_s) {
  std::map<std::string, std::vector<TracedFamily>> families;
  std::vector<TracedFamily> launches, whole;
  for (const auto& [number, step] : steps) {
    for (const auto& [family, sums] : step.families) families[family].push_back(sums);
    launches.push_back(step.launches);
    whole.push_back({"", 1, step_s, step.end - step.begin});
  }
  Traced traced{.launches = Middle(launches, ranks), .step = Middle(whole, 1)};
  traced.steps = static_cast<int>(steps.size());
  for (const auto& [family, sums] : families) {
    traced.families.push_back(Middle(sums, ranks));
    traced.families.back().family = family;
  }
  std::stable_sort(traced.families.begin(), traced.families.end(),
                   [](const TracedFamily& a, const TracedFamily& b) { return a.traced_s > b.traced_s; });
  return traced;
}

}  // namespace

absl::StatusOr<Traced> CompareWithTrace(const plan::Plan& plan, const Cluster& cluster, const sim::Report& report,
                                        const std::string& trace_path) {
  const auto wrong = [&](auto... text) { return absl::InvalidArgumentError(absl::StrCat(trace_path, ": ", text...)); };
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  const std::vector<OfStage> predicted = PredictedOf(programs, plan::MachineOf(cluster), report);
  std::map<int64_t, size_t> stages;  // by rank
  for (size_t s = 0; s < programs.size(); ++s) {
    for (const int64_t rank : programs[s].placement->ranks()) stages[rank] = s;
  }
  const Json trace = ReadTrace(trace_path);
  if (trace.is_null()) return wrong("expected a trace of weft-run, found none");
  const plan::DeviceKind* kind = plan::FindDeviceKind(cluster.device().kind());
  if ((kind == nullptr || !kind->host) && !HasDeviceTimes(trace)) {
    return wrong(
        "expected what kernels take, as traces of ranks on CPUs have it and those that activity_trace.py makes "
        "of a GPU's record, got a trace of ",
        cluster.device().kind(), ", which says when the host began them");
  }
  std::map<int64_t, StepSums> steps;
  std::set<int64_t> ranks;
  bool kernels = false;
  for (const Event& event : EventsOf(trace)) {
    const auto stage = stages.find(event.process);
    if (stage == stages.end()) continue;  // what is no rank
    const auto it = predicted[stage->second].find(event.name);
    const bool is_kernel = HasKernels(event.track);
    if (it == predicted[stage->second].end() && is_kernel) {
      return wrong("expected a trace of this plan, found kernel `", event.name, "` of rank ", event.process,
                   ", which it does not run");
    }
    StepSums& step = steps[event.step];
    step.begin = std::min(step.begin, event.begin_s);
    step.end = std::max(step.end, event.end_s);
    kernels |= is_kernel;
    ranks.insert(event.process);
    if (it != predicted[stage->second].end()) Add(event, it->second, step);
  }
  if (!kernels) return wrong("expected the kernels of a step, as weft-run --trace-kernels writes them, found none");
  if (steps.size() > 1) steps.erase(steps.begin());
  return TracedOf(steps, static_cast<double>(ranks.size()), report.step_s);
}

}  // namespace weft::tools
