#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "runtime/plan/names.h"
#include "tools/plan/report/parts.h"
#include "tools/plan/traced.h"

namespace weft::tools {
namespace {

// An act of whatever clock.
struct Timed {
  int32_t actor = 0;
  int64_t micro_batch = 0;
  double begin_s = 0, end_s = 0;
  double exposed_s = 0;
};

std::string WhatOf(const plan::Actor& actor) {
  if (actor.collectives_size() > 0) return plan::BundleText(actor);
  if (actor.end_case() == plan::Actor::kSend) return "send";
  return actor.end_case() == plan::Actor::kReceive ? "receive" : "";
}

Json ActorsJson(const plan::Program& program, const std::vector<std::vector<int>>& rows, const sim::Costs& costs) {
  Json json = {{"name", Json::array()},     {"what", Json::array()},    {"phase", Json::array()},
               {"chunk", Json::array()},    {"step", Json::array()},    {"bytes", Json::array()},
               {"location", Json::array()}, {"kernels", Json::array()}, {"over", Json::array()}};
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    const plan::Actor& actor = program.actor(a);
    json["name"].push_back(actor.name());
    json["what"].push_back(WhatOf(actor));
    json["phase"].push_back(static_cast<int>(actor.phase()));
    json["chunk"].push_back(actor.chunk());
    json["step"].push_back(program.micro(a) ? 0 : 1);
    json["bytes"].push_back(costs[program.index][a].sent_bytes);
    json["location"].push_back(actor.collectives_size() == 1 ? actor.collectives(0).location() : "");
    json["over"].push_back(actor.collectives_size() > 0 ? plan::AxesText(*program.placement, actor.collectives(0))
                                                        : "");
    json["kernels"].push_back(rows[a]);
  }
  return json;
}

// The acts of one stream in the order of their beginnings.
Json ActsJson(std::vector<Timed> acts) {
  std::stable_sort(acts.begin(), acts.end(), [](const Timed& a, const Timed& b) { return a.begin_s < b.begin_s; });
  std::vector<int64_t> actor, micro, gap, ns, exposed;
  int64_t now = 0;
  for (const Timed& act : acts) {
    const int64_t begin = std::llround(act.begin_s * 1e9), end = std::llround(act.end_s * 1e9);
    actor.push_back(act.actor);
    micro.push_back(act.micro_batch);
    gap.push_back(begin - now);
    ns.push_back(end - begin);
    exposed.push_back(std::llround(act.exposed_s * 1e9));
    now = end;
  }
  return {{"actor", actor}, {"micro", micro}, {"gap", gap}, {"ns", ns}, {"exposed", exposed}};
}

Json StreamsJson(const plan::Stage& stage, std::vector<std::vector<Timed>> acts) {
  Json json = Json::array();
  for (int i = 0; i < stage.streams_size(); ++i) {
    Json stream = ActsJson(std::move(acts[i]));
    stream["name"] = stage.streams(i).name();
    stream["kind"] = plan::NameOf(stage.streams(i).kind());
    json.push_back(std::move(stream));
  }
  return json;
}

// The acts of the ranks of a trace, a step of it.
struct TracedStep {
  double begin_s = HUGE_VAL, end_s = 0;
  std::map<int64_t, std::vector<const Event*>> ranks;
};

std::map<int64_t, TracedStep> StepsOf(const std::vector<Event>& events, const std::map<int64_t, size_t>& stages) {
  std::map<int64_t, TracedStep> steps;
  for (const Event& event : events) {
    if (stages.find(event.process) == stages.end() || HasKernels(event.track)) continue;
    TracedStep& step = steps[event.step];
    step.begin_s = std::min(step.begin_s, event.begin_s);
    step.end_s = std::max(step.end_s, event.end_s);
    step.ranks[event.process].push_back(&event);
  }
  if (steps.size() > 1) steps.erase(steps.begin());
  return steps;
}

int64_t MedianStep(const std::map<int64_t, TracedStep>& steps) {
  std::vector<std::pair<double, int64_t>> lengths;
  for (const auto& [number, step] : steps) lengths.emplace_back(step.end_s - step.begin_s, number);
  std::nth_element(lengths.begin(), lengths.begin() + lengths.size() / 2, lengths.end());
  return lengths[lengths.size() / 2].second;
}

Json MeasuredStage(const plan::Stage& stage, const std::vector<const Event*>& events, double begin_s) {
  std::map<std::string, int> streams;
  for (int i = 0; i < stage.streams_size(); ++i) streams[stage.streams(i).name()] = i;
  std::map<std::string, int32_t> of;
  for (int32_t a = 0; a < stage.actors_size(); ++a) of[stage.actors(a).name()] = a;
  std::vector<std::vector<Timed>> acts(stage.streams_size());
  for (const Event* event : events) {
    const auto stream = streams.find(event->track);
    const auto actor = of.find(event->name);
    if (stream == streams.end() || actor == of.end()) continue;
    acts[stream->second].push_back(
        {actor->second, event->micro_batch, event->begin_s - begin_s, event->end_s - begin_s, 0});
  }
  return StreamsJson(stage, std::move(acts));
}

}  // namespace

Json TimelineJson(const Reported& it, const std::vector<std::vector<std::vector<int>>>& rows) {
  Json json = {{"stages", Json::array()}, {"transfers", Json::array()}};
  std::vector<std::vector<std::vector<Timed>>> acts;
  for (const plan::Program& program : it.programs) acts.emplace_back(program.stage->streams_size());
  for (size_t i = 0; i < it.report.acts.size(); ++i) {
    const sim::TimedAct& act = it.report.acts[i];
    acts[act.stage][it.programs[act.stage].actor(act.actor).stream()].push_back(
        {act.actor, act.micro_batch, act.begin_s, act.end_s, it.report.exposed_s[i]});
  }
  for (const plan::Program& program : it.programs) {
    json["stages"].push_back({{"actors", ActorsJson(program, rows[program.index], it.costs)},
                              {"streams", StreamsJson(*program.stage, std::move(acts[program.index]))}});
  }
  const std::vector<plan::TransferEnds> ends = plan::EndsOf(it.programs);
  for (size_t t = 0; t < ends.size(); ++t) {
    const plan::Transfer& transfer = it.plan.transfers(static_cast<int>(t));
    json["transfers"].push_back({transfer.source_stage(), ends[t].sender, transfer.target_stage(), ends[t].receiver,
                                 it.costs[transfer.source_stage()][ends[t].sender].sent_bytes});
  }
  return json;
}

Json MeasuredJson(const Reported& it, const std::vector<Event>& events) {
  std::map<int64_t, size_t> stages;  // by rank
  for (const plan::Program& program : it.programs) {
    for (const int64_t rank : program.placement->ranks()) stages[rank] = program.index;
  }
  const std::map<int64_t, TracedStep> steps = StepsOf(events, stages);
  if (steps.empty()) return Json();
  const int64_t number = MedianStep(steps);
  const TracedStep& step = steps.at(number);
  Json json = {{"step", number},
               {"steps", steps.size()},
               {"step_s", step.end_s - step.begin_s},
               {"stages", std::vector<Json>(it.programs.size())}};
  for (const auto& [rank, of_rank] : step.ranks) {  // the first of each stage
    Json& stage = json["stages"][stages[rank]];
    if (!stage.is_null()) continue;
    stage = {{"rank", rank}, {"streams", MeasuredStage(*it.programs[stages[rank]].stage, of_rank, step.begin_s)}};
  }
  return json;
}

}  // namespace weft::tools
