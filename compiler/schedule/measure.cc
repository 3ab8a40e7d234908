#include <algorithm>
#include <array>

#include "compiler/schedule/measure.h"

namespace weft::schedule {
namespace {

UnitKind lastReader(bool split) { return split ? UnitKind::Weight : UnitKind::Backward; }

Stash stashOf(const std::vector<Unit> &units, int chunk, bool split) {
  const Unit forward{UnitKind::Forward, chunk}, backward{UnitKind::Backward, chunk}, weight{UnitKind::Weight, chunk};
  Stash stash;
  stash.toBackward = inFlight(units, {forward, backward});
  stash.toWeight = split ? inFlight(units, {backward, weight}) : 0;
  stash.held = inFlight(units, {forward, {lastReader(split), chunk}});
  return stash;
}

double durationOf(UnitKind kind, const Durations &durations) {
  switch (kind) {
  case UnitKind::Forward:
    return durations.forward;
  case UnitKind::Backward:
    return durations.backward;
  case UnitKind::Weight:
    return durations.weight;
  }
  return 0;
}

/// Runs the lists of all stages.
class Clock {
public:
  Clock(const Schedule &schedule, const std::vector<Durations> &ofChunks,
        const std::function<double(int, int)> &transfer)
      : shape_(schedule.shape), order_(schedule.order), ofChunks_(ofChunks), transfer_(transfer),
        free_(shape_.stages, 0), ends_(shape_.allChunks()) {
    times_.begins.resize(shape_.stages);
    times_.busy.assign(shape_.stages, 0);
  }

  Times run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int stage = 0; stage < shape_.stages; ++stage)
        moved |= advance(stage);
    }
    sum();
    return std::move(times_);
  }

private:
  /// When what the unit waits for has ended, or nothing if it has not run.
  std::optional<double> readyAt(int stage, const Unit &unit) const {
    const int chunk = shape_.chunkAt(stage, unit.chunk);
    const bool forward = unit.kind == UnitKind::Forward;
    const int other = forward ? chunk - 1 : chunk + 1;
    if (unit.kind == UnitKind::Weight || other < 0 || other == shape_.allChunks())
      return 0;
    const std::vector<double> &ends = ends_[other][int(unit.kind)];
    const double moves = shape_.stageOf(other) == stage ? 0 : transfer_(shape_.stageOf(other), stage);
    return size_t(unit.microBatch) < ends.size() ? std::optional(ends[unit.microBatch] + moves) : std::nullopt;
  }

  bool advance(int stage) {
    std::vector<double> &begins = times_.begins[stage];
    const size_t before = begins.size();
    while (begins.size() < order_[stage].size()) {
      const Unit &unit = order_[stage][begins.size()];
      std::optional<double> ready = readyAt(stage, unit);
      if (!ready)
        break;
      const int chunk = shape_.chunkAt(stage, unit.chunk);
      const double begin = std::max(free_[stage], *ready), duration = durationOf(unit.kind, ofChunks_[chunk]);
      begins.push_back(begin);
      free_[stage] = begin + duration;
      times_.busy[stage] += duration;
      ends_[chunk][int(unit.kind)].push_back(free_[stage]);
    }
    return begins.size() > before;
  }

  void sum() {
    double busy = 0;
    for (int stage = 0; stage < shape_.stages; ++stage) {
      busy += times_.busy[stage];
      times_.makespan = std::max(times_.makespan, free_[stage]);
    }
    times_.bubble = 1 - busy / (times_.makespan * shape_.stages);
  }

  const Shape &shape_;
  const Order &order_;
  const std::vector<Durations> &ofChunks_; // of the model
  const std::function<double(int, int)> &transfer_;
  Times times_;
  std::vector<double> free_;                             // when each stage is idle again
  std::vector<std::array<std::vector<double>, 3>> ends_; // of each chunk of the model and kind, by micro-batch
};

} // namespace

std::string print(const Order &order) {
  std::string text;
  for (const std::vector<Unit> &units : order) {
    for (size_t i = 0; i < units.size(); ++i)
      absl::StrAppend(&text, i == 0 ? "" : " ", print(units[i]));
    text += '\n';
  }
  return text;
}

std::vector<std::vector<Stash>> stashes(const Schedule &schedule) {
  const bool split = isSplit(schedule.order);
  std::vector<std::vector<Stash>> all;
  for (const std::vector<Unit> &units : schedule.order) {
    std::vector<Stash> &own = all.emplace_back();
    for (int chunk = 0; chunk < schedule.shape.chunks; ++chunk)
      own.push_back(stashOf(units, chunk, split));
  }
  return all;
}

std::vector<int> mostHeld(const Schedule &schedule) {
  const UnitKind last = lastReader(isSplit(schedule.order));
  std::vector<int> all;
  for (const std::vector<Unit> &units : schedule.order) {
    int now = 0, most = 0;
    for (const Unit &unit : units) {
      now += (unit.kind == UnitKind::Forward) - (unit.kind == last);
      most = std::max(most, now);
    }
    all.push_back(most);
  }
  return all;
}

Durations unitDurations(const Order &order) { return isSplit(order) ? Durations{1, 1, 1} : Durations{1, 2, 0}; }

Times unitTimes(const Schedule &schedule, const Durations &durations) {
  return unitTimes(schedule, std::vector<Durations>(schedule.shape.allChunks(), durations),
                   [](int, int) { return 0.0; });
}

Times unitTimes(const Schedule &schedule, const std::vector<Durations> &ofChunks,
                const std::function<double(int from, int to)> &transfer) {
  return Clock(schedule, ofChunks, transfer).run();
}

} // namespace weft::schedule
