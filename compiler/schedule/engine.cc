#include "compiler/schedule/engine.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <utility>

namespace weft::schedule {
namespace {

constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

class Simulation {
public:
  Simulation(const Shape &shape, const Rules &rules)
      : shape_(shape), rules_(rules), split_(rules.ticks[int(UnitKind::Weight)] > 0), order_(shape.stages),
        stages_(shape.stages), chunks_(shape.allChunks()),
        left_(long(shape.allChunks()) * shape.microBatches * (split_ ? 3 : 2)) {
    for (Chunk &chunk : chunks_) {
      chunk.forwardEnds.assign(shape.microBatches, kNever);
      chunk.backwardEnds.assign(shape.microBatches, kNever);
    }
  }

  std::optional<Simulated> run() {
    for (int stage = 0; stage < shape_.stages; ++stage)
      look(stage);
    for (; !ends_.empty(); ends_.pop()) {
      now_ = ends_.top().first;
      // What has ended here can be waited for here and on the neighbours, of which the first and the last are two.
      const int stage = ends_.top().second, p = shape_.stages;
      for (int other : {stage, (stage + 1) % p, (stage + p - 1) % p})
        look(other);
    }
    if (left_ > 0)
      return std::nullopt;
    return Simulated{std::move(order_), now_};
  }

private:
  struct Chunk {
    std::array<int, 3> next = {0, 0, 0}; // micro-batch of each kind
    int held = 0, places = 1;            // activations, and the most of them so far
    std::vector<Ticks> forwardEnds, backwardEnds;
  };
  using End = std::pair<Ticks, int>; // of a unit, on a stage
  struct Stage {
    Ticks freeAt = 0;
    int open = 0, held = 0; // as in Rules
  };

  Chunk &chunkOf(int stage, int local) { return chunks_[shape_.chunkAt(stage, local)]; }

  /// The next unit of a kind on a chunk, or nothing if all have begun.
  std::optional<Unit> next(int stage, int local, UnitKind kind) {
    int microBatch = chunkOf(stage, local).next[int(kind)];
    if (microBatch == shape_.microBatches || (kind == UnitKind::Weight && !split_))
      return std::nullopt;
    return Unit{kind, local, microBatch};
  }

  /// Whether what the unit waits for has ended.
  bool isReady(int stage, const Unit &unit) {
    int chunk = shape_.chunkAt(stage, unit.chunk);
    const Chunk &own = chunks_[chunk];
    switch (unit.kind) {
    case UnitKind::Forward:
      return chunk == 0 || chunks_[chunk - 1].forwardEnds[unit.microBatch] <= now_;
    case UnitKind::Backward:
      return own.forwardEnds[unit.microBatch] <= now_ &&
             (chunk + 1 == shape_.allChunks() || chunks_[chunk + 1].backwardEnds[unit.microBatch] <= now_);
    case UnitKind::Weight:
      return own.backwardEnds[unit.microBatch] <= now_;
    }
    return false;
  }

  /// The places that a stage's chunks need if F of chunk `more` is next.
  int placesWith(int stage, int more) {
    int places = 0;
    for (int local = 0; local < shape_.chunks; ++local) {
      const Chunk &chunk = chunkOf(stage, local);
      places += std::max(chunk.places, chunk.held + (local == more));
    }
    return places;
  }

  bool hasMemory(int stage, const Unit &unit) {
    if (unit.kind != UnitKind::Forward)
      return true;
    int needed = rules_.reserve ? shape_.chunks - unit.chunk : 1;
    return stages_[stage].open + needed <= rules_.mostOpen[stage] &&
           stages_[stage].held + needed <= rules_.mostHeld[stage] &&
           (rules_.mostPlaces.empty() || placesWith(stage, unit.chunk) <= rules_.mostPlaces[stage]);
  }

  /// The unit of a kind that the rules prefer, or nothing if none can begin.
  std::optional<Unit> preferred(int stage, UnitKind kind) {
    std::optional<Unit> best;
    for (int local = 0; local < shape_.chunks; ++local) {
      std::optional<Unit> unit = next(stage, local, kind);
      bool waits = rules_.inSequence && kind != UnitKind::Weight;
      if (!unit || (!waits && !(isReady(stage, *unit) && hasMemory(stage, *unit))))
        continue;
      if (!best || rules_.rank(*unit) < rules_.rank(*best))
        best = unit;
    }
    return best && isReady(stage, *best) && hasMemory(stage, *best) ? best : std::nullopt;
  }

  std::optional<Unit> choose(int stage) {
    std::array<UnitKind, 3> kinds = {UnitKind::Forward, UnitKind::Backward, UnitKind::Weight};
    if (rules_.backwardFirst)
      std::swap(kinds[0], kinds[1]);
    const Stage &own = stages_[stage];
    if (!rules_.mostWaiting.empty() && own.held - own.open > rules_.mostWaiting[stage])
      std::swap(kinds[1], kinds[2]);
    for (UnitKind kind : kinds) {
      if (std::optional<Unit> unit = preferred(stage, kind))
        return unit;
    }
    return std::nullopt;
  }

  /// Begins the unit of a stage that it prefers now, if it is idle and one can begin.
  void look(int stage) {
    if (stages_[stage].freeAt > now_)
      return;
    if (std::optional<Unit> unit = choose(stage))
      begin(stage, *unit);
  }

  void begin(int stage, const Unit &unit) {
    Chunk &chunk = chunkOf(stage, unit.chunk);
    Stage &own = stages_[stage];
    own.freeAt = now_ + rules_.ticks[int(unit.kind)];
    ends_.push({own.freeAt, stage});
    --left_;
    ++chunk.next[int(unit.kind)];
    order_[stage].push_back(unit);
    // A stage is serial, so what the unit frees when it ends is free to the next one.
    switch (unit.kind) {
    case UnitKind::Forward:
      chunk.forwardEnds[unit.microBatch] = own.freeAt;
      ++own.open;
      ++own.held;
      chunk.places = std::max(chunk.places, ++chunk.held);
      break;
    case UnitKind::Backward:
      chunk.backwardEnds[unit.microBatch] = own.freeAt;
      --own.open;
      own.held -= !split_;
      chunk.held -= !split_;
      break;
    case UnitKind::Weight:
      --own.held;
      --chunk.held;
      break;
    }
  }

  const Shape &shape_;
  const Rules &rules_;
  const bool split_;
  Order order_;
  std::vector<Stage> stages_;
  std::vector<Chunk> chunks_;
  long left_; // units that have not begun
  Ticks now_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends_;
};

} // namespace

std::optional<Simulated> simulate(const Shape &shape, const Rules &rules) { return Simulation(shape, rules).run(); }

} // namespace weft::schedule
