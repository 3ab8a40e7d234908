#include "tools/plan/explain.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/job/cluster.h"
#include "runtime/measure/alike.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/names.h"
#include "runtime/sim/costs.h"
#include "tools/plan/cluster.h"

namespace weft::tools {
namespace {

// A simulated step, and what of it concerns a part of the plan.
class Step {
 public:
  Step(const std::vector<plan::Program>& programs, const plan::Machine& machine, const sim::Report& report,
       const Scope& scope)
      : programs_(programs),
        report_(report),
        scope_(scope),
        costs_(sim::CostsOf(programs, machine)),
        ends_(plan::EndsOf(programs)),
        origins_(programs.begin(), programs.end()) {
    for (const plan::Program& program : programs) {
      kernels_.push_back(sim::KernelSecondsOf(program, machine));
      for (const plan::Stream& stream : program.stage->streams()) streams_ += stream.kind() == plan::Stream::COMPUTE;
    }
    streams_ = std::max(streams_, 1.0);
  }

  Division Divide() const {
    Division division;
    for (size_t i = 0; i < report_.acts.size(); ++i) {
      const sim::TimedAct& act = report_.acts[i];
      const plan::Actor& actor = programs_[act.stage].actor(act.actor);
      if (actor.kernels_size() > 0 && OnCompute(act)) {
        SecondsOf(actor.phase(), division) += (act.end_s - act.begin_s) * ShareOf(act) / streams_;
      } else if (scope_.HasCommunication(programs_[act.stage], act.actor)) {
        division.exposed_comm_s += report_.exposed_s[i];
      }
    }
    if (scope_.kind() == Scope::Kind::kPlan) division.waiting_s = report_.waiting_s;
    return division;
  }

  std::vector<Communication> Communications() const {
    std::vector<Group> groups;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, size_t> places;
    std::map<std::pair<int32_t, int32_t>, size_t> of_actor;  // stage, actor
    for (int32_t s = 0; s < static_cast<int32_t>(programs_.size()); ++s) {
      for (int32_t a = 0; a < programs_[s].stage->actors_size(); ++a) {
        if (programs_[s].actor(a).kernels_size() > 0 || !scope_.HasCommunication(programs_[s], a)) continue;
        Group group = GroupOf(s, a);
        const auto key =
            std::tuple(group.name.Key(), group.location.Key(), group.communication.what, group.communication.over);
        const auto [place, fresh] = places.try_emplace(key, groups.size());
        of_actor[{s, a}] = place->second;
        if (fresh) {
          groups.push_back(std::move(group));
          continue;
        }
        Group& known = groups[place->second];
        known.name.Merge(group.name);
        known.location.Merge(group.location);
        if (known.number != group.number) known.number.clear();
        AddNextBest(group.communication, known.communication);
        known.communication.count += group.communication.count;
        known.receivers += group.receivers;
      }
    }
    for (size_t i = 0; i < report_.acts.size(); ++i) {
      const sim::TimedAct& act = report_.acts[i];
      const auto place = of_actor.find({act.stage, act.actor});
      if (place == of_actor.end()) continue;
      Communication& it = groups[place->second].communication;
      it.seconds += (act.end_s - act.begin_s) / streams_;
      it.exposed_s += report_.exposed_s[i];
      const plan::Actor& actor = programs_[act.stage].actor(act.actor);
      if (actor.end_case() != plan::Actor::kReceive) {
        ++it.acts;
        it.sent_bytes += costs_[act.stage][act.actor].sent_bytes / streams_;
        continue;
      }
      const int32_t source = programs_[0].plan->transfers(actor.receive()).source_stage();
      ++groups[place->second].received;
      groups[place->second].received_bytes += costs_[source][ends_[actor.receive()].sender].sent_bytes / streams_;
    }
    return Sorted(std::move(groups));
  }

  std::vector<BelowDevice> Below() const {
    std::map<std::pair<int32_t, std::string>, BelowDevice> all;  // by tier
    for (size_t i = 0; i < report_.acts.size(); ++i) {
      const sim::TimedAct& act = report_.acts[i];
      const plan::Program& program = programs_[act.stage];
      const plan::Actor& actor = program.actor(act.actor);
      const bool moves = plan::MovesTiers(actor);
      const int32_t tier =
          moves ? program.buffer(plan::BelowOf(actor.kernels(0))).tier() : plan::TierOfWork(program, act.actor);
      if (tier == 0 || !scope_.HasActor(program, act.actor)) continue;
      const std::string what = !moves                                    ? "updated by the host"
                               : actor.kernels(0).name() == plan::kFetch ? "fetched"
                                                                         : "stored";
      BelowDevice& it = all[{tier, what}];
      it.tier = program.plan->header().cluster().tier(tier - 1).name();
      it.what = what;
      for (const plan::Kernel& kernel : actor.kernels()) {
        const double bytes =
            moves ? static_cast<double>(program.exact_bytes[plan::BelowOf(kernel)]) : kernel.cost().bytes();
        it.bytes += bytes / streams_;
      }
      it.seconds += (act.end_s - act.begin_s) / streams_;
      it.exposed_s += report_.exposed_s[i];
    }
    std::vector<BelowDevice> rows;
    for (auto& [key, it] : all) rows.push_back(std::move(it));
    return rows;
  }

 private:
  struct Group {
    plan::Numbered name;
    std::string number;  // "#2" of "gradients.all_reduce#2"; empty if they have several
    plan::Numbered location;
    Communication communication;
    // The receiving ends, which count where the scope has no sending ones.
    int receivers = 0;
    int64_t received = 0;  // acts
    double received_bytes = 0;
  };

  bool OnCompute(const sim::TimedAct& act) const {
    const plan::Program& program = programs_[act.stage];
    return program.stage->streams(program.actor(act.actor).stream()).kind() == plan::Stream::COMPUTE;
  }

  static double& SecondsOf(plan::Actor::Phase phase, Division& division) {
    switch (phase) {
      case plan::Actor::FORWARD:
        return division.forward_s;
      case plan::Actor::BACKWARD:
      case plan::Actor::WEIGHT:
        return division.backward_s;
      case plan::Actor::UPDATE:
        return division.update_s;
      default:
        return division.other_s;
    }
  }

  // The part of an act's seconds in kernels that the scope has.
  double ShareOf(const sim::TimedAct& act) const {
    const plan::Program& program = programs_[act.stage];
    if (scope_.HasActor(program, act.actor)) return 1;
    double all = 0, here = 0;
    for (int k = 0; k < program.actor(act.actor).kernels_size(); ++k) {
      const double seconds = kernels_[act.stage][act.actor][k];
      all += seconds;
      if (scope_.HasKernel(program, act.actor, program.actor(act.actor).kernels(k))) here += seconds;
    }
    return all > 0 ? here / all : 0;
  }

  // Of one actor, before its acts are counted. Both ends of a transfer have the name of the sender.
  Group GroupOf(int32_t s, int32_t a) const {
    const plan::Program& program = programs_[s];
    const plan::Actor& actor = program.actor(a);
    Communication it;
    if (actor.collectives_size() > 0) {
      for (const plan::Collective& collective : actor.collectives()) {
        const Communication one = NextBestOf(*program.placement, collective);
        if (&collective == &actor.collectives(0)) it.next_best = one.next_best;
        AddNextBest(one, it);
      }
      it.what = plan::BundleText(actor);
      it.over = plan::AxesText(*program.placement, actor.collectives(0));
      it.count = 1;
      const bool bundle = actor.collectives_size() > 1;
      return GroupOf(actor.name(), bundle ? "" : actor.collectives(0).location(), it);
    }
    const bool sends = actor.end_case() == plan::Actor::kSend;
    const int32_t t = sends ? actor.send() : actor.receive();
    const plan::Transfer& transfer = program.plan->transfers(t);
    const plan::Program& source = programs_[transfer.source_stage()];
    it.what = "transfer";
    it.over = "stages";
    it.count = sends ? 1 : 0;
    Group group = GroupOf(source.actor(ends_[t].sender).name(),
                          origins_[transfer.source_stage()].Of(transfer.source_buffer()), it);
    group.receivers = sends ? 0 : 1;
    return group;
  }

  Communication NextBestOf(const plan::Placement& placement, const plan::Collective& collective) const {
    Communication it;
    if (!collective.has_next_best()) return it;
    const plan::NextBest& next_best = collective.next_best();
    it.next_best = "none";
    if (!next_best.has_made()) return it;
    const std::string made = plan::TextOf(next_best.made()), read = plan::TextOf(next_best.read());
    it.next_best = made == read ? made : absl::StrCat(made, " to ", read);
    if (collective.axes_size() > 1) {
      plan::Collective over;
      over.add_axes(next_best.axis());
      it.next_best = absl::StrCat(plan::AxesText(placement, over), "=", it.next_best);
    }
    it.more_s = next_best.more_s() / streams_;
    it.avoided = next_best.avoided();
    return it;
  }

  static void AddNextBest(const Communication& one, Communication& all) {
    if (all.next_best != one.next_best) all.next_best = "several";
    all.more_s += one.more_s;
    all.avoided |= one.avoided;
  }

  static Group GroupOf(const std::string& name, const std::string& location, const Communication& communication) {
    const size_t number = std::min(name.find('#'), name.size());
    return {plan::Numbered(name.substr(0, number)), name.substr(number), plan::Numbered(location), communication};
  }

  static std::vector<Communication> Sorted(std::vector<Group> groups) {
    std::vector<Communication> all;
    for (Group& group : groups) {
      group.communication.name = group.name.Text() + group.number;
      group.communication.location = group.location.Text();
      if (group.communication.count == 0) {
        group.communication.count = group.receivers;
        group.communication.acts = group.received;
        group.communication.sent_bytes = group.received_bytes;
      }
      all.push_back(std::move(group.communication));
    }
    std::sort(all.begin(), all.end(), [](const Communication& a, const Communication& b) {
      return std::tuple(-a.exposed_s, -a.seconds, a.name) < std::tuple(-b.exposed_s, -b.seconds, b.name);
    });
    return all;
  }

  const std::vector<plan::Program>& programs_;
  const sim::Report& report_;
  const Scope& scope_;
  const sim::Costs costs_;
  std::vector<std::vector<std::vector<double>>> kernels_;  // seconds of each, by stage and actor
  const std::vector<plan::TransferEnds> ends_;
  const std::vector<plan::Origins> origins_;
  double streams_ = 0;
};

// Of the stage that needs most for what the scope has.
Memory MemoryOf(const std::vector<plan::Program>& programs, const std::vector<plan::StageMemory>& stages,
                const Scope& scope) {
  Memory most;
  int64_t most_bytes = -1;
  for (size_t s = 0; s < programs.size(); ++s) {
    const plan::Program& program = programs[s];
    plan::StageMemory memory = stages[s];
    std::erase_if(memory.live,
                  [&](const plan::StageMemory::Live& live) { return !scope.HasBuffer(program, live.buffer); });
    memory.at_peak = {};
    const std::vector<plan::Category> categories = plan::CategoriesOf(program);
    for (const plan::StageMemory::Live& live : memory.live) {
      memory.at_peak[static_cast<int>(categories[live.buffer])] += live.bytes;
    }
    const int64_t live = std::accumulate(memory.at_peak.begin(), memory.at_peak.end(), int64_t{0});
    const int64_t bytes = scope.kind() == Scope::Kind::kPlan ? memory.arena_bytes : live;
    if (bytes <= most_bytes) continue;
    most_bytes = bytes;
    most = {static_cast<int>(s), memory.arena_bytes, memory.lower_bound_bytes, memory.at_peak,
            plan::LargestOf(program, memory)};
  }
  return most;
}

// What may be twice as fast, and the key that says how fast it is.
struct Rate {
  const char* name;
  const char* key;
  double (*value)(const Cluster&);
};

constexpr Rate kRates[] = {
    {"network", "cluster.network.link_bytes_s", [](const Cluster& c) { return c.network().link_bytes_s(); }},
    {"node's link", "cluster.node.link_bytes_s", [](const Cluster& c) { return c.node().link_bytes_s(); }},
    {"memory's bandwidth", "cluster.device.memory_bytes_s",
     [](const Cluster& c) { return c.device().memory_bytes_s(); }},
    {"matrix products", "cluster.device.contraction_flops",
     [](const Cluster& c) { return c.device().contraction_flops(); }},
};

// What may be twice as fast of what the plan has below the device.
std::vector<Price> TierPrices(const std::vector<BelowDevice>& below) {
  std::vector<Price> prices;
  for (const BelowDevice& it : below) {
    const bool moves = it.what == "fetched" || it.what == "stored";
    const Price price{absl::StrCat(moves ? "tier `" : "the host in tier `", it.tier, "`"),
                      absl::StrCat("cluster.tier.", it.tier, moves ? ".bytes_s=2x" : ".update_bytes_s=2x")};
    const bool known = std::any_of(prices.begin(), prices.end(), [&](const Price& p) { return p.key == price.key; });
    if (!known) prices.push_back(price);
  }
  return prices;
}

absl::StatusOr<std::vector<Price>> PricesOf(const std::string& path, const plan::Plan& plan, const Cluster& cluster,
                                            const std::vector<BelowDevice>& below, double step_s) {
  std::vector<Price> prices, asked = TierPrices(below);
  for (const Rate& rate : kRates) {
    if (rate.value(cluster) > 0) asked.push_back({rate.name, absl::StrCat(rate.key, "=2x")});  // else: none there
  }
  for (Price& price : asked) {
    Cluster faster = cluster;
    if (absl::Status status = OverrideCluster({price.key}, &faster); !status.ok()) return status;
    const absl::StatusOr<sim::Report> report = Simulated(path, plan, faster);
    if (!report.ok()) return report.status();
    price.step_s = report->step_s;
    price.saved_s = step_s - report->step_s;
    prices.push_back(std::move(price));
  }
  std::sort(prices.begin(), prices.end(), [](const Price& a, const Price& b) {
    return std::pair(-a.saved_s, a.name) < std::pair(-b.saved_s, b.name);
  });
  return prices;
}

}  // namespace

absl::StatusOr<Explanation> Explain(const std::string& path, const plan::Plan& plan, const Cluster& cluster,
                                    const Scope& scope, const std::string& with) {
  const absl::StatusOr<sim::Report> report = Simulated(path, plan, cluster);
  if (!report.ok()) return report.status();
  const absl::StatusOr<std::vector<plan::StageMemory>> memory = plan::MeasureMemory(plan);
  if (!memory.ok()) return memory.status();
  const std::vector<plan::Program> programs = plan::ProgramsOf(plan);
  const plan::Machine machine = plan::MachineOf(cluster);
  const Step step(programs, machine, *report, scope);
  Explanation explanation{plan::FiguresOf(plan, sim::PredictionOf(*report), cluster),
                          step.Divide(),
                          step.Communications(),
                          step.Below(),
                          MemoryOf(programs, *memory, scope),
                          {},
                          std::nullopt};
  if (scope.kind() == Scope::Kind::kPlan) {
    absl::StatusOr<std::vector<Price>> prices = PricesOf(path, plan, cluster, explanation.below, report->step_s);
    if (!prices.ok()) return prices.status();
    explanation.prices = *std::move(prices);
  }
  if (!with.empty()) {
    absl::StatusOr<Traced> traced = CompareWithTrace(plan, cluster, *report, with);
    if (!traced.ok()) return traced.status();
    explanation.traced = *std::move(traced);
  }
  return explanation;
}

}  // namespace weft::tools
