// Which unit of a schedule does an op of the micro-batches.
#ifndef WEFT_COMPILER_ANALYSIS_UNIT_ORDER_H_
#define WEFT_COMPILER_ANALYSIS_UNIT_ORDER_H_

#include "compiler/schedule/schedule.h"
#include "ops/dialect/weft.h"

namespace weft::compiler {

/// The units of one micro-batch in the order of what they read: the forwards, then from the last chunk to the first
/// the backward, and its weight part. Nothing that a unit reads is made by a later one.
struct UnitOrder {
  bool back = false;
  int chunk = 0; // backwards -1, -2, ... for the chunks 0, 1, ...
  schedule::UnitKind kind = schedule::UnitKind::Forward;
  auto operator<=>(const UnitOrder &other) const = default;
};

UnitOrder unitOrderOf(schedule::UnitKind kind, int chunk);

/// The attribute of an actor whose micro-batches overlap: the places of its acts in its unit, one a micro-batch.
inline constexpr llvm::StringLiteral kTurnName("turn");

/// What the phase of an op says.
schedule::UnitKind unitKindOf(mlir::Operation *op);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_UNIT_ORDER_H_
