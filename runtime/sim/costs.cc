#include "runtime/sim/costs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/strip.h"
#include "runtime/plan/collective_groups.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/tiles.h"
#include "runtime/sim/far.h"

namespace weft::sim {
namespace {

ActCost CostOf(const plan::GroupedBundle& bundle, const plan::Machine& machine) {
  ActCost sum;
  for (const auto& [kind, bytes] : bundle.bytes) sum.sent_bytes += plan::SentBytes(kind, bytes, bundle.group.ranks);
  sum.seconds = plan::BundleSeconds(machine, bundle.bytes, bundle.group);
  return sum;
}

// Bytes that one rank sends or receives, to or from ranks of its node and others.
struct Traffic {
  double near = 0;
  double far = 0;
};

// Costs of transfers; those between the same layouts are worked out once.
class Transfers {
 public:
  Transfers(const plan::Plan& plan, const plan::Machine& machine) : plan_(plan), machine_(machine) {}

  ActCost CostOf(const plan::Transfer& transfer) {
    const auto [it, is_new] = known_.try_emplace(KeyOf(transfer));
    if (is_new) it->second = WorkOut(transfer);
    return it->second;
  }

 private:
  // Stages and the layouts of both buffers.
  std::string KeyOf(const plan::Transfer& transfer) const {
    std::string key = std::to_string(transfer.source_stage()) + ":" + std::to_string(transfer.target_stage());
    const auto add = [&](int32_t stage, int32_t index) {
      const plan::Buffer& buffer = plan_.stages(stage).buffers(index);
      key += ":" + std::to_string(buffer.dtype());
      for (int64_t d : buffer.shape()) key += "," + std::to_string(d);
      for (const plan::Sbp& sbp : buffer.sbp())
        key += ";" + std::to_string(sbp.kind()) + "." + std::to_string(sbp.dim());
    };
    add(transfer.source_stage(), transfer.source_buffer());
    add(transfer.target_stage(), transfer.target_buffer());
    return key;
  }

  ActCost WorkOut(const plan::Transfer& transfer) const {
    const plan::Stage& source = plan_.stages(transfer.source_stage());
    const plan::Stage& target = plan_.stages(transfer.target_stage());
    const plan::Placement& from = plan_.placements(source.placement());
    const plan::Placement& to = plan_.placements(target.placement());
    const int64_t element = plan::ElementBytes(source.buffers(transfer.source_buffer()).dtype());
    std::map<int64_t, Traffic> sends, receives;
    for (const plan::Piece& piece : plan::PiecesOf(plan_, transfer)) {
      const double bytes = static_cast<double>(piece.tile.elements() * element);
      const int64_t a = from.ranks(static_cast<int>(piece.source)), b = to.ranks(static_cast<int>(piece.target));
      const bool near = a / machine_.node_ranks == b / machine_.node_ranks;
      (near ? sends[a].near : sends[a].far) += bytes;
      (near ? receives[b].near : receives[b].far) += bytes;
    }
    ActCost cost;
    for (const auto* side : {&sends, &receives}) {
      for (const auto& [rank, traffic] : *side) cost.seconds = std::max(cost.seconds, SecondsOf(traffic));
    }
    for (const auto& [rank, traffic] : sends) cost.sent_bytes = std::max(cost.sent_bytes, traffic.near + traffic.far);
    return cost;
  }

  // Both links at the same time.
  double SecondsOf(const Traffic& traffic) const {
    const double near = traffic.near > 0 ? plan::TransferSeconds(machine_, traffic.near, true) : 0;
    const double far = traffic.far > 0 ? plan::TransferSeconds(machine_, traffic.far, false) : 0;
    return std::max(near, far);
  }

  const plan::Plan& plan_;
  const plan::Machine& machine_;
  std::map<std::string, ActCost> known_;
};

bool OnAnotherStream(const plan::Program& program, int32_t actor, int32_t peer) {
  return peer >= 0 && program.actor(peer).stream() != program.actor(actor).stream();
}

// Whether an act may wait for one of another stream, so that no graph goes on over its beginning.
bool Waits(const plan::Program& program, int32_t a) {
  const plan::Actor& actor = program.actor(a);
  const auto waits_for_writer = [&](int32_t b) { return OnAnotherStream(program, a, program.writer[b]); };
  const auto waits_for_readers = [&](int32_t b) {
    return std::any_of(program.readers[b].begin(), program.readers[b].end(),
                       [&](int32_t reader) { return OnAnotherStream(program, a, reader); });
  };
  return std::any_of(actor.reads().begin(), actor.reads().end(), waits_for_writer) ||
         (program.micro(a) && std::any_of(actor.writes().begin(), actor.writes().end(), waits_for_readers));
}

// Beside what KernelSeconds() says, where kernels are replayed as graphs: what an act launches that exchanges data with
// the host, and the graph that begins with an act which may wait.
double LaunchesBesideGraphs(const plan::Program& program, int32_t a, const plan::Machine& machine) {
  const plan::Actor& actor = program.actor(a);
  if (machine.graph_launch_s <= 0 || actor.kernels_size() == 0) return 0;
  if (plan::HasPort(actor)) return actor.kernels_size() * (machine.launch_s - machine.graph_launch_s);
  return Waits(program, a) ? machine.launch_s : 0;
}

bool OnCompute(const plan::Program& program, int32_t actor) {
  return program.stage->streams(program.actor(actor).stream()).kind() == plan::Stream::COMPUTE;
}

bool SplitsBackward(absl::Span<const plan::Program> programs) {
  for (const plan::Program& program : programs) {
    for (const plan::Actor& actor : program.stage->actors()) {
      if (actor.phase() == plan::Actor::WEIGHT) return true;
    }
  }
  return false;
}

plan::KernelWork WorkOf(const std::string& family, const plan::KernelCost& cost) {
  plan::KernelWork work = {cost.contraction_flops(), cost.flops(), cost.bytes()};
  const plan::KernelProduct& product = cost.product();
  if (cost.has_product()) {
    work.product = {product.batch(), product.m(), product.n(), product.k(), product.type(), product.within()};
  }
  // One that several operators are, as "add+gelu", and what adds to a sum over the micro-batches.
  const bool is_joined = family.find('+') != std::string::npos;
  work.family = is_joined ? plan::kGeneratedFamily : std::string(absl::StripPrefix(family, "accumulate_"));
  work.type = cost.type();
  return work;
}

// By the rates of the tier; by those of the device's memory on a machine that has none.
double SecondsOfMove(const plan::Program& program, const plan::Kernel& kernel, const plan::Machine& machine) {
  const bool fetches = kernel.name() == plan::kFetch;
  const int32_t b = plan::BelowOf(kernel);
  const std::string& name = program.plan->header().cluster().tier(program.buffer(b).tier() - 1).name();
  const plan::TierRates* tier = plan::FindTier(machine, name);
  if (tier == nullptr) return plan::KernelSeconds(machine, WorkOf(kernel.name(), kernel.cost()));
  return plan::TierSeconds(*tier, static_cast<double>(program.exact_bytes[b]), fetches);
}

// Of the tier in which the host does an actor's work; null: it does not, or the rates are not known.
const plan::TierRates* RatesOfWork(const plan::Program& program, int32_t actor, const plan::Machine& machine) {
  const int32_t tier = plan::TierOfWork(program, actor);
  return tier == 0 ? nullptr : plan::FindTier(machine, program.plan->header().cluster().tier(tier - 1).name());
}

double UnitOf(plan::Actor::Phase phase, bool split) {
  switch (phase) {
    case plan::Actor::FORWARD:
    case plan::Actor::WEIGHT:
      return 1;
    case plan::Actor::BACKWARD:
      return split ? 1 : 2;
    default:
      return 0;
  }
}

}  // namespace

plan::KernelWork WorkOf(const plan::Kernel& kernel) { return WorkOf(kernel.name(), kernel.cost()); }

std::vector<std::vector<double>> KernelSecondsOf(const plan::Program& program, const plan::Machine& machine) {
  std::vector<std::vector<double>> seconds = FarShares(program, machine);
  plan::Machine here = machine;
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    const plan::TierRates* const tier = RatesOfWork(program, a, machine);
    for (int k = 0; k < program.actor(a).kernels_size(); ++k) {
      double& kernel = seconds[a][k];
      if (plan::MovesTier(program.actor(a).kernels(k))) {
        kernel = SecondsOfMove(program, program.actor(a).kernels(k), machine);
        continue;
      }
      if (tier != nullptr) {
        kernel = plan::UpdateSeconds(*tier, program.actor(a).kernels(k).cost().bytes());
        continue;
      }
      if (kernel > 0) here.step_bytes = machine.near_bytes * std::pow(machine.far_bytes / machine.near_bytes, kernel);
      if (kernel <= 0) here.step_bytes = 0;
      kernel = plan::KernelSeconds(here, WorkOf(program.actor(a).kernels(k)));
    }
  }
  return seconds;
}

Costs CostsOf(absl::Span<const plan::Program> programs, const plan::Machine& machine) {
  Costs costs;
  if (programs.empty()) return costs;
  Transfers transfers(*programs[0].plan, machine);
  for (const plan::Program& program : programs) {
    const std::vector<std::vector<double>> kernels = KernelSecondsOf(program, machine);
    plan::CollectiveGroups groups(program, machine);
    std::vector<ActCost>& stage = costs.emplace_back();
    for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
      const plan::Actor& actor = program.actor(a);
      ActCost& cost = stage.emplace_back();
      cost.seconds = LaunchesBesideGraphs(program, a, machine);
      for (const double seconds : kernels[a]) cost.seconds += seconds;
      if (actor.collectives_size() > 0) cost = CostOf(groups.BundleOf(actor), machine);
      if (actor.end_case() == plan::Actor::kSend) cost = transfers.CostOf(program.plan->transfers(actor.send()));
      if (actor.end_case() == plan::Actor::kReceive) {
        cost = {transfers.CostOf(program.plan->transfers(actor.receive())).seconds, 0};
      }
    }
  }
  return costs;
}

Costs UnitCostsOf(absl::Span<const plan::Program> programs) {
  const bool split = SplitsBackward(programs);
  Costs costs;
  for (const plan::Program& program : programs) {
    std::vector<ActCost>& stage = costs.emplace_back(program.stage->actors_size());
    std::set<std::pair<int32_t, int>> begun;  // chunk and phase
    for (const plan::Stream& stream : program.stage->streams()) {
      for (const plan::Run& run : stream.runs()) {
        for (int32_t a : run.actors()) {
          const plan::Actor& actor = program.actor(a);
          if (!program.micro(a) || !OnCompute(program, a) || stage[a].seconds > 0) continue;
          if (begun.insert({actor.chunk(), actor.phase()}).second) stage[a].seconds = UnitOf(actor.phase(), split);
        }
      }
    }
  }
  return costs;
}

}  // namespace weft::sim
