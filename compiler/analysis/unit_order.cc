#include "compiler/analysis/unit_order.h"

namespace weft::compiler {

using schedule::UnitKind;

UnitOrder unitOrderOf(UnitKind kind, int chunk) {
  const bool back = kind != UnitKind::Forward;
  return {back, back ? -chunk - 1 : chunk, kind};
}

UnitKind unitKindOf(mlir::Operation *op) {
  switch (ir::phaseOf(op)) {
  case ir::OpPhase::Weight:
    return UnitKind::Weight;
  case ir::OpPhase::Backward:
  case ir::OpPhase::Recompute:
    return UnitKind::Backward;
  case ir::OpPhase::Forward:
  case ir::OpPhase::Update:
    return UnitKind::Forward;
  }
  llvm_unreachable("every phase has a unit");
}

} // namespace weft::compiler
