#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <map>

namespace weft::schedule {

int Shape::chunkAt(int stage, int local) const {
  if (map == ChunkMap::V)
    return local == 0 ? stage : 2 * stages - 1 - stage;
  return local * stages + stage;
}

int Shape::stageOf(int chunk) const {
  if (map == ChunkMap::V)
    return chunk < stages ? chunk : 2 * stages - 1 - chunk;
  return chunk % stages;
}

int Shape::localOf(int chunk) const { return chunk / stages; }

bool isSplit(const Order &order) {
  return std::any_of(order.begin(), order.end(), [](const std::vector<Unit> &units) {
    return std::any_of(units.begin(), units.end(), [](const Unit &unit) { return unit.kind == UnitKind::Weight; });
  });
}

int inFlight(const std::vector<Unit> &units, const std::vector<Unit> &users) {
  const auto isOf = [](const Unit &unit, const Unit &user) {
    return unit.kind == user.kind && unit.chunk == user.chunk;
  };
  std::map<int, int> left; // by micro-batch: users that are still to come
  int now = 0, most = 0;
  for (const Unit &unit : units) {
    if (std::none_of(users.begin(), users.end(), [&](const Unit &user) { return isOf(unit, user); }))
      continue;
    if (isOf(unit, users.front())) {
      left[unit.microBatch] += int(users.size());
      most = std::max(most, ++now);
    }
    if (--left[unit.microBatch] == 0)
      --now;
  }
  return most;
}

} // namespace weft::schedule
