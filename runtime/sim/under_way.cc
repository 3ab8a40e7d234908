#include "runtime/sim/under_way.h"

#include <algorithm>
#include <tuple>

namespace weft::sim {

UnderWay::UnderWay(absl::Span<const plan::Program> programs, const plan::Machine& machine)
    : machine_(machine),
      busy_(programs.size(), 0),
      slows_(machine.product_slowdown > 1 || machine.collective_slowdown > 1),
      kernels_(programs.size(), 0),
      collectives_(programs.size(), 0) {
  if (machine.node_cores <= 0) return;
  for (const plan::Program& here : programs) {
    std::vector<int64_t>& row = neighbours_.emplace_back();
    const int64_t node = here.placement->ranks(0) / machine.node_ranks;
    for (const plan::Program& there : programs) {
      const auto& ranks = there.placement->ranks();
      row.push_back(
          std::count_if(ranks.begin(), ranks.end(), [&](int64_t rank) { return rank / machine.node_ranks == node; }));
    }
  }
}

void UnderWay::Add(const RunningAct& act) {
  acts_.push_back(act);
  acts_.back().number = begun_++;
  Count(act, 1);
  Pace(act.begin_s);
}

UnderWay::RunningAct UnderWay::Pop() {
  const auto first = std::min_element(acts_.begin(), acts_.end(), [](const RunningAct& a, const RunningAct& b) {
    return std::tie(a.end_s, a.number) < std::tie(b.end_s, b.number);
  });
  const RunningAct act = *first;
  acts_.erase(first);
  Count(act, -1);
  Pace(act.end_s);
  return act;
}

void UnderWay::Count(const RunningAct& act, int64_t change) {
  if (act.kernels) kernels_[act.stage] += change;
  if (act.collective) collectives_[act.stage] += change;
  if (!act.computes) return;
  for (size_t s = 0; s < neighbours_.size(); ++s) busy_[s] += change * neighbours_[s][act.stage];
}

double UnderWay::SpeedOf(const RunningAct& act) const {
  const double share = plan::ShareOfCore(machine_, busy_[act.paced_by]);
  if (act.kernels && collectives_[act.stage] > 0) return share / machine_.product_slowdown;
  if (act.collective && kernels_[act.stage] > 0) return share / machine_.collective_slowdown;
  return share;
}

void UnderWay::Pace(double now) {
  if (neighbours_.empty() && !slows_) return;
  for (RunningAct& act : acts_) {
    const double speed = SpeedOf(act);
    if (speed == act.speed) continue;
    act.end_s = now + (act.end_s - now) * act.speed / speed;
    act.speed = speed;
  }
}

}  // namespace weft::sim
