#include "absl/strings/str_cat.h"
#include "compiler/schedule/engine.h"
#include "compiler/schedule/schedule.h"

namespace weft::schedule {
namespace {

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
  return Shape{stages, chunks, microBatches,
               isV           ? Placement::V
               : interleaved ? Placement::Interleaved
                             : Placement::Plain};
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
  rules.split = true;
  rules.mostOpen = limits(shape, [&](int stage) { return shape.stages - stage; });
  rules.mostHeld = limits(shape, [&](int) { return shape.stages; });
  return rules;
}

/// At most 2p chunks' activations are held, which is 1F1B's memory. The later chunk first: it brings the next B nearer.
/// Stage i, which ends its last B i units before stage 0 does, keeps about that many W to fill what is left with.
///
/// It cannot block: of the first micro-batch that is not through, either a B can run or the F that is missing finds the
/// place that is reserved for it.
Rules v(const Shape &shape, int keptByFirst) {
  Rules rules;
  rules.split = true;
  rules.reserve = true;
  rules.mostHeld = rules.mostOpen = limits(shape, [&](int) { return 2 * shape.stages; });
  rules.mostWaiting = limits(shape, [&](int stage) { return stage + keptByFirst; });
  rules.rank = [m = long(shape.microBatches)](const Unit &unit) { return unit.microBatch - unit.chunk * m; };
  return rules;
}

/// The ways to make a kind, of which the shortest schedule is taken.
std::vector<Rules> rulesOf(Kind kind, const Shape &shape) {
  switch (kind) {
  case Kind::GPipe:
    return {unsplit(limits(shape, [&](int) { return shape.microBatches; }))};
  case Kind::OneForwardOneBackward:
    return {unsplit(limits(shape, [&](int stage) { return shape.stages - stage; }))};
  case Kind::Interleaved:
    return {interleaved(shape)};
  case Kind::ZeroBubbleH1:
    return {h1(shape)};
  case Kind::ZeroBubbleV:
    return {v(shape, 1), v(shape, 0)};
  }
  return {};
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

absl::StatusOr<Schedule> make(Kind kind, int stages, int chunks, int microBatches) {
  absl::StatusOr<Shape> shape = shapeOf(kind, stages, chunks, microBatches);
  if (!shape.ok())
    return shape.status();
  std::optional<Simulated> best;
  for (const Rules &rules : rulesOf(kind, *shape)) {
    std::optional<Simulated> made = simulate(*shape, rules);
    if (made && (!best || made->makespan < best->makespan))
      best = std::move(made);
  }
  if (!best)
    return absl::InternalError(absl::StrCat(nameOf(kind), ": expected an order that can run, got none"));
  return Schedule{*shape, std::move(best->order)};
}

} // namespace weft::schedule
