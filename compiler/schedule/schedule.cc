#include "compiler/schedule/schedule.h"

#include <algorithm>

namespace weft::schedule {

int Shape::chunkAt(int stage, int local) const {
  if (placement == Placement::V)
    return local == 0 ? stage : 2 * stages - 1 - stage;
  return local * stages + stage;
}

int Shape::stageOf(int chunk) const {
  if (placement == Placement::V)
    return chunk < stages ? chunk : 2 * stages - 1 - chunk;
  return chunk % stages;
}

int Shape::localOf(int chunk) const { return chunk / stages; }

bool isSplit(const Order &order) {
  return std::any_of(order.begin(), order.end(), [](const std::vector<Unit> &units) {
    return std::any_of(units.begin(), units.end(), [](const Unit &unit) { return unit.kind == UnitKind::Weight; });
  });
}

} // namespace weft::schedule
