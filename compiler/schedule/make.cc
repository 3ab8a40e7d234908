#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/engine.h"
#include "compiler/schedule/schedule.h"

namespace weft::schedule {
namespace {

// How many units are simulated at most to choose among ways, about a second's work.
constexpr long kMostTried = 2'000'000;

// The part of a step that is worth memory beyond 1F1B's.
constexpr double kWorthPlaces = 0.01;

absl::Status wrong(const char *key, int least, int got) {
  return absl::InvalidArgumentError(absl::StrCat(key, ": expected ", least, " or more, got ", got));
}

absl::StatusOr<Shape> shapeOf(Kind kind, int stages, int chunks, int microBatches) {
  const bool interleaved = kind == Kind::Interleaved, isV = kind == Kind::ZeroBubbleV;
  if (stages < 1)
    return wrong("dist.pipeline", 1, stages);
  if (microBatches < 1)
    return wrong("micro-batches", 1, microBatches);
  if (chunks == 0)
    chunks = interleaved || isV ? 2 : 1;
  if (interleaved && chunks < 2)
    return wrong("pipeline.chunks of INTERLEAVED", 2, chunks);
  if (!interleaved && chunks != (isV ? 2 : 1))
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline.chunks of ", nameOf(kind), ": expected ", isV ? 2 : 1, ", got ", chunks));
  return Shape{stages, chunks, microBatches, isV ? ChunkMap::V : interleaved ? ChunkMap::Interleaved : ChunkMap::Plain};
}

/// Limits of every stage, from a function of the stage.
template <typename Limit> std::vector<int> limits(const Shape &shape, Limit limit) {
  std::vector<int> all;
  for (int stage = 0; stage < shape.stages; ++stage)
    all.push_back(limit(stage));
  return all;
}

/// One limit for what is open and what is held.
Rules unsplit(std::vector<int> most) {
  Rules rules;
  rules.mostOpen = most;
  rules.mostHeld = std::move(most);
  return rules;
}

/// Groups of p micro-batches go through all chunks, the last group with what remains. Stage i runs F as far ahead of B
/// as in Narayanan et al.: 2(p - 1 - i) + (v - 1)p, and one more in work.
///
/// It cannot block: F and B of all stages run in one sequence each. The n-th B waits for no F later than the
/// (n + (v - 1)p)-th, which every stage may run before it.
Rules interleaved(const Shape &shape) {
  const int p = shape.stages, v = shape.chunks;
  Rules rules = unsplit(limits(shape, [&](int stage) { return 2 * (p - 1 - stage) + (v - 1) * p + 1; }));
  rules.inSequence = true;
  rules.rank = [p, v](const Unit &unit) {
    long group = unit.microBatch / p, inGroup = unit.microBatch % p;
    int chunk = unit.kind == UnitKind::Forward ? unit.chunk : v - 1 - unit.chunk;
    return (group * v + chunk) * p + inGroup;
  };
  return rules;
}

/// As 1F1B, but W waits, as long as no more than p activations are held, for a time in which neither F nor B can run.
Rules h1(const Shape &shape) {
  Rules rules;
  rules.ticks = {1, 1, 1};
  rules.mostOpen = limits(shape, [&](int stage) { return shape.stages - stage; });
  rules.mostHeld = limits(shape, [&](int) { return shape.stages; });
  return rules;
}

/// Durations of split backwards, a thousandth of their mean being one tick.
std::array<Ticks, 3> ticksOf(const Durations &split) {
  const double tick = (split.forward + split.backward + split.weight) / 3000;
  auto ticks = [tick](double duration) { return std::max<Ticks>(1, std::lround(duration / tick)); };
  return {ticks(split.forward), ticks(split.backward), ticks(split.weight)};
}

/// At most 2p chunks' activations are held, which is 1F1B's memory, in at most so many places more.
///
/// It cannot block: of the first micro-batch that is not through, either a B can run or the F that is missing finds the
/// place that is reserved for it, which no earlier micro-batch is left in when the W that wait have run.
Rules inV(const Shape &shape, const Durations &split, int morePlaces) {
  Rules rules;
  rules.ticks = ticksOf(split);
  rules.reserve = true;
  rules.mostHeld = rules.mostOpen = limits(shape, [&](int) { return 2 * shape.stages; });
  rules.mostPlaces = limits(shape, [&](int) { return 2 * shape.stages + morePlaces; });
  return rules;
}

/// Ways to make a V. The first is the best if F, B and W take equally long: the later chunk goes first, for it brings
/// the next B nearer; stage i, which ends its last B i units before stage 0 does, keeps about that many W to fill what
/// is left with.
std::vector<Rules> waysInV(const Shape &shape, const Durations &split, int morePlaces) {
  std::vector<Rules> ways;
  for (double slope : {1.0, 0.5, 0.0, 2.0}) {
    for (int kept : {1, 0, 2, 5}) {
      for (bool backwardFirst : {false, true}) {
        for (bool laterFirst : {true, false}) {
          Rules rules = inV(shape, split, morePlaces);
          rules.backwardFirst = backwardFirst;
          rules.mostWaiting = limits(shape, [&](int stage) { return int(slope * stage) + kept; });
          rules.rank = [m = long(shape.microBatches), laterFirst](const Unit &unit) {
            return laterFirst ? unit.microBatch - unit.chunk * m : unit.microBatch * 2L + unit.chunk;
          };
          ways.push_back(std::move(rules));
        }
      }
    }
  }
  return ways;
}

/// The shortest of the ways, as far as kMostTried units allow; stops at `best`.
std::optional<Simulated> shortest(const Shape &shape, const std::vector<Rules> &ways, Ticks best) {
  std::optional<Simulated> shortest;
  long tried = 0;
  for (const Rules &rules : ways) {
    std::optional<Simulated> made = simulate(shape, rules);
    if (made && (!shortest || made->makespan < shortest->makespan))
      shortest = std::move(made);
    tried += 3L * shape.allChunks() * shape.microBatches;
    if (tried > kMostTried || (shortest && shortest->makespan <= best))
      break;
  }
  return shortest;
}

/// No V is shorter than this: the last stage begins when p - 1 chunks' F have run.
Ticks leastInV(const Shape &shape, const std::array<Ticks, 3> &ticks) {
  return (shape.stages - 1) * ticks[0] + 2L * shape.microBatches * (ticks[0] + ticks[1] + ticks[2]);
}

/// With more places than 2p only if a step is shorter by kWorthPlaces of it.
std::optional<Simulated> bestInV(const Shape &shape, const Durations &split) {
  const Ticks least = leastInV(shape, ticksOf(split));
  std::optional<Simulated> best;
  for (int morePlaces : {0, 1, 2, shape.stages}) {
    std::optional<Simulated> made = shortest(shape, waysInV(shape, split, morePlaces), least);
    if (made && (!best || double(made->makespan) < (1 - kWorthPlaces) * double(best->makespan)))
      best = std::move(made);
    if (best && double(least) >= (1 - kWorthPlaces) * double(best->makespan))
      break;
  }
  return best;
}

std::optional<Simulated> simulate(Kind kind, const Shape &shape, const Durations &split) {
  switch (kind) {
  case Kind::GPipe:
    return simulate(shape, unsplit(limits(shape, [&](int) { return shape.microBatches; })));
  case Kind::OneForwardOneBackward:
    return simulate(shape, unsplit(limits(shape, [&](int stage) { return shape.stages - stage; })));
  case Kind::Interleaved:
    return simulate(shape, interleaved(shape));
  case Kind::ZeroBubbleH1:
    return simulate(shape, h1(shape));
  case Kind::ZeroBubbleV:
    return bestInV(shape, split);
  }
  return std::nullopt;
}

} // namespace

std::string nameOf(Kind kind) {
  switch (kind) {
  case Kind::GPipe:
    return "GPIPE";
  case Kind::OneForwardOneBackward:
    return "ONE_F_ONE_B";
  case Kind::Interleaved:
    return "INTERLEAVED";
  case Kind::ZeroBubbleH1:
    return "ZERO_BUBBLE form H1";
  case Kind::ZeroBubbleV:
    return "ZERO_BUBBLE form V";
  }
  return "";
}

absl::StatusOr<Schedule> make(Kind kind, int stages, int chunks, int microBatches, const Durations &split) {
  absl::StatusOr<Shape> shape = shapeOf(kind, stages, chunks, microBatches);
  if (!shape.ok())
    return shape.status();
  for (double duration : {split.forward, split.backward, split.weight}) {
    if (!(duration > 0 && std::isfinite(duration)))
      return absl::InvalidArgumentError(absl::StrCat("durations: expected above 0, got ", duration));
  }
  std::optional<Simulated> made = simulate(kind, *shape, split);
  if (!made)
    return absl::InternalError(absl::StrCat(nameOf(kind), ": expected an order that can run, got none"));
  return Schedule{*shape, std::move(made->order)};
}

} // namespace weft::schedule
