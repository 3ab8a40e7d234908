#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/measure/alike.h"
#include "tools/plan/report/parts.h"
#include "tools/plan/traced.h"

namespace weft::tools {
namespace {

// Kernels that layers have alike; seconds and runs of a step.
struct Alike {
  std::string family;
  plan::Numbered location;
  plan::Actor::Phase phase = plan::Actor::OTHER;
  plan::KernelWork work;
  double runs = 0, predicted_s = 0, measured_s = 0;
  double measured_runs = 0;
};

std::string ProductText(const plan::Product& it) {
  if (it.m == 0) return "";
  const std::string one = absl::StrCat(it.m, " x ", it.k, " x ", it.n);
  return it.batch == 1 ? one : absl::StrCat(it.batch, " of ", one);
}

class Collector {
 public:
  explicit Collector(const Reported& it) : it_(it), stretches_(Stretches(it.report, it.costs)) {}

  std::vector<std::vector<std::vector<int>>> Collect() {
    std::vector<std::vector<int64_t>> acts;
    for (const plan::Program& program : it_.programs) acts.emplace_back(program.stage->actors_size(), 0);
    for (const sim::TimedAct& act : it_.report.acts) ++acts[act.stage][act.actor];
    std::vector<std::vector<std::vector<int>>> rows;
    for (const plan::Program& program : it_.programs) {
      for (const plan::Stream& stream : program.stage->streams()) streams_ += stream.kind() == plan::Stream::COMPUTE;
      const std::vector<std::vector<double>> seconds = sim::KernelSecondsOf(program, it_.machine);
      auto& of_stage = rows.emplace_back(program.stage->actors_size());
      for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
        const plan::Actor& actor = program.actor(a);
        for (int k = 0; k < actor.kernels_size(); ++k) {
          const int row = RowOf(actor, actor.kernels(k));
          const auto runs = static_cast<double>(acts[program.index][a]);
          alike_[row].runs += runs;
          alike_[row].predicted_s += seconds[a][k] * stretches_[program.index][a] * runs;
          of_stage[a].push_back(row);
          places_[program.index][TracedName(actor, k)] = row;
        }
      }
    }
    return rows;
  }

  // What the ranks of a trace took: means over its ranks and steps, the first left out where there are more.
  void Measure(const std::vector<Event>& events) {
    std::map<int64_t, int> stages;
    for (const plan::Program& program : it_.programs) {
      for (const int64_t rank : program.placement->ranks()) stages[rank] = program.index;
    }
    std::set<int64_t> steps;
    std::map<int, std::set<int64_t>> ranks;  // by stage
    for (const Event& event : events) {
      if (!HasKernels(event.track) || stages.find(event.process) == stages.end()) continue;
      steps.insert(event.step);
      ranks[stages[event.process]].insert(event.process);
    }
    if (steps.size() > 1) steps.erase(steps.begin());
    for (const Event& event : events) {
      const auto stage = stages.find(event.process);
      if (!HasKernels(event.track) || stage == stages.end() || steps.count(event.step) == 0) continue;
      const auto row = places_[stage->second].find(event.name);
      if (row == places_[stage->second].end()) continue;
      const double share = 1 / static_cast<double>(steps.size() * ranks[stage->second].size());
      alike_[row->second].measured_s += (event.end_s - event.begin_s) * share;
      alike_[row->second].measured_runs += share;
    }
  }

  Json ToJson() const {
    // What the device's rates alone say, whatever was measured by size, and without launches.
    plan::Machine rates = it_.machine;
    rates.tables = rates.far_tables = nullptr;
    rates.launch_s = rates.graph_launch_s = 0;
    Json json = Json::array();
    const double streams = std::max(streams_, 1.0);
    for (const Alike& it : alike_) {
      json.push_back({{"name", it.family},
                      {"phase", static_cast<int>(it.phase)},
                      {"location", it.location.Text()},
                      {"type", it.work.type},
                      {"product", ProductText(it.work.product)},
                      {"contraction_flops", it.work.contraction_flops},
                      {"flops", it.work.flops},
                      {"bytes", it.work.bytes},
                      {"runs", it.runs / streams},
                      {"predicted_s", it.predicted_s / streams},
                      {"roofline_s", it.runs / streams * plan::KernelSeconds(rates, it.work)},
                      {"measured_s", it.measured_runs > 0 ? Json(it.measured_s / streams) : Json()}});
    }
    return json;
  }

 private:
  int RowOf(const plan::Actor& actor, const plan::Kernel& kernel) {
    const plan::KernelWork work = sim::WorkOf(kernel);
    const plan::Numbered location(kernel.location());
    const auto key = std::tuple(kernel.name(), location.Key(), actor.phase(), work.contraction_flops, work.flops,
                                work.bytes, work.type);
    const auto [place, fresh] = rows_.try_emplace(key, static_cast<int>(alike_.size()));
    if (fresh) alike_.push_back({kernel.name(), location, actor.phase(), work});
    alike_[place->second].location.Merge(location);
    return place->second;
  }

  const Reported& it_;
  const std::vector<std::vector<double>> stretches_;
  double streams_ = 0;
  std::vector<Alike> alike_;
  std::map<std::tuple<std::string, std::string, plan::Actor::Phase, double, double, double, std::string>, int> rows_;
  std::map<int, std::map<std::string, int>> places_;  // by stage, and name in a trace
};

}  // namespace

Json KernelsJson(const Reported& it, const std::vector<Event>& events,
                 std::vector<std::vector<std::vector<int>>>* rows) {
  Collector collector(it);
  *rows = collector.Collect();
  collector.Measure(events);
  return collector.ToJson();
}

}  // namespace weft::tools
