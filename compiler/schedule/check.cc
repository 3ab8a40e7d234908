#include "compiler/schedule/check.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace weft::schedule {
namespace {

/// A unit of some chunk of the model.
struct Need {
  UnitKind kind;
  int chunk; // of the model
  int microBatch;
};

class Checker {
public:
  Checker(const Schedule &schedule, const Where &where)
      : shape_(schedule.shape), order_(schedule.order), where_(where), split_(isSplit(schedule.order)),
        at_(schedule.order.size(), 0), done_(schedule.shape.allChunks()) {}

  absl::Status run() {
    if (absl::Status status = checkShape(shape_); !status.ok())
      return status;
    if (int(order_.size()) != shape_.stages)
      return absl::InvalidArgumentError(
          absl::StrCat("schedule: expected ", shape_.stages, " stages, got ", order_.size()));
    for (int stage = 0; stage < shape_.stages; ++stage) {
      if (absl::Status status = checkStage(stage); !status.ok())
        return status;
    }
    return execute();
  }

private:
  absl::Status wrong(int stage, size_t index, const std::string &expected, const std::string &got) const {
    return absl::InvalidArgumentError(
        absl::StrCat(where_(stage, index), "stage ", stage, ": expected ", expected, ", got ", got));
  }

  /// Every unit once and in order; `seen` counts the units of each kind and chunk, which are those of micro-batches
  /// 0 to seen - 1.
  absl::Status checkStage(int stage) const {
    std::vector<std::array<int, 3>> seen(shape_.chunks, {0, 0, 0});
    const std::vector<Unit> &units = order_[stage];
    for (size_t i = 0; i < units.size(); ++i) {
      const Unit &unit = units[i];
      if (unit.chunk < 0 || unit.chunk >= shape_.chunks)
        return wrong(stage, i, absl::StrCat("a chunk below ", shape_.chunks), print(unit));
      if (unit.microBatch < 0 || unit.microBatch >= shape_.microBatches)
        return wrong(stage, i, absl::StrCat("a micro-batch below ", shape_.microBatches), print(unit));
      std::array<int, 3> &counts = seen[unit.chunk];
      int kind = int(unit.kind);
      if (unit.microBatch < counts[kind])
        return wrong(stage, i, "every unit once", print(unit) + " again");
      Unit next{unit.kind, unit.chunk, counts[kind]};
      if (unit.microBatch > next.microBatch)
        return wrong(stage, i, print(next) + " first", print(unit));
      if (kind > 0 && unit.microBatch >= counts[kind - 1])
        return wrong(stage, i, print({UnitKind(kind - 1), unit.chunk, unit.microBatch}) + " first", print(unit));
      ++counts[kind];
    }
    for (int chunk = 0; chunk < shape_.chunks; ++chunk) {
      for (int kind = 0; kind < (split_ ? 3 : 2); ++kind) {
        if (int count = seen[chunk][kind]; count < shape_.microBatches)
          return wrong(stage, units.size(), print({UnitKind(kind), chunk, count}), "the end");
      }
    }
    return absl::OkStatus();
  }

  bool isDone(const Need &need) const { return done_[need.chunk][int(need.kind)] > need.microBatch; }

  /// What a unit waits for that has not run; nothing of its own chunk, which `checkStage` has seen to.
  std::optional<Need> missing(int stage, const Unit &unit) const {
    int chunk = shape_.chunkAt(stage, unit.chunk);
    std::optional<Need> need;
    if (unit.kind == UnitKind::Forward && chunk > 0)
      need = Need{unit.kind, chunk - 1, unit.microBatch};
    if (unit.kind == UnitKind::Backward && chunk + 1 < shape_.allChunks())
      need = Need{unit.kind, chunk + 1, unit.microBatch};
    return need && !isDone(*need) ? need : std::nullopt;
  }

  bool isAtEnd(int stage) const { return at_[stage] == order_[stage].size(); }

  /// Runs a stage's list as far as it goes; whether it went anywhere.
  bool advance(int stage) {
    size_t before = at_[stage];
    while (!isAtEnd(stage) && !missing(stage, order_[stage][at_[stage]])) {
      const Unit &unit = order_[stage][at_[stage]++];
      ++done_[shape_.chunkAt(stage, unit.chunk)][int(unit.kind)];
    }
    return at_[stage] > before;
  }

  absl::Status execute() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int stage = 0; stage < shape_.stages; ++stage)
        moved |= advance(stage);
    }
    for (int stage = 0; stage < shape_.stages; ++stage) {
      if (!isAtEnd(stage))
        return blocked(stage);
    }
    return absl::OkStatus();
  }

  /// The stages that wait for each other: from a blocked one, whoever it waits for, until one comes again.
  std::vector<int> cycleFrom(int stage) const {
    std::vector<int> path;
    for (auto again = path.end(); again == path.end(); again = std::find(path.begin(), path.end(), stage)) {
      path.push_back(stage);
      stage = shape_.stageOf(missing(stage, order_[stage][at_[stage]])->chunk);
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), stage));
    return path;
  }

  absl::Status blocked(int stage) const {
    std::vector<int> cycle = cycleFrom(stage);
    std::string text;
    for (int member : cycle) {
      const Unit &unit = order_[member][at_[member]];
      Need need = *missing(member, unit);
      absl::StrAppend(&text, text.empty() ? "" : absl::StrCat("; stage ", member, " waits at "), print(unit),
                      text.empty() ? ", which waits for " : " for ",
                      print({need.kind, shape_.localOf(need.chunk), need.microBatch}), " of ",
                      cycle.size() == 1 ? "the same stage" : absl::StrCat("stage ", shape_.stageOf(need.chunk)));
    }
    return wrong(cycle[0], at_[cycle[0]], "a unit that can run", text);
  }

  const Shape &shape_;
  const Order &order_;
  const Where &where_;
  const bool split_;
  std::vector<size_t> at_;               // of every stage, the first unit that has not run
  std::vector<std::array<int, 3>> done_; // of every chunk of the model, how many of each kind have run
};

} // namespace

absl::Status checkShape(const Shape &shape) {
  for (auto [name, value] : {std::pair("stages", shape.stages), std::pair("chunks", shape.chunks),
                             std::pair("micro-batches", shape.microBatches)}) {
    if (value < 1)
      return absl::InvalidArgumentError(absl::StrCat(name, ": expected 1 or more, got ", value));
  }
  const int only = shape.map == ChunkMap::Plain ? 1 : 2;
  if (shape.map != ChunkMap::Interleaved && shape.chunks != only)
    return absl::InvalidArgumentError(absl::StrCat("chunks: expected ", only, ", got ", shape.chunks));
  return absl::OkStatus();
}

absl::Status checkAt(const Schedule &schedule, const Where &where) { return Checker(schedule, where).run(); }

absl::Status check(const Schedule &schedule) {
  return checkAt(schedule, [](int, size_t) { return std::string(); });
}

} // namespace weft::schedule
