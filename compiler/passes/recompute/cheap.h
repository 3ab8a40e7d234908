// What is cheaper to compute again than to keep.
#ifndef WEFT_COMPILER_PASSES_RECOMPUTE_CHEAP_H_
#define WEFT_COMPILER_PASSES_RECOMPUTE_CHEAP_H_

#include "compiler/analysis/layer.h"
#include "compiler/analysis/machine.h"
#include "compiler/analysis/section.h"

namespace weft::compiler {

/// A byte that is kept from forward to backward is worth the time in which a rank's memory moves so many. A plain
/// element-wise op reads and writes each byte, so that chains of up to eight of them are run again.
inline constexpr double kBytesMovedForOneKept = 16;

/// True if something outside of the layer keeps `value`, the result of one of its forward ops, until the backward:
/// another layer's backward (be it original or clone) reads it.
bool isKeptOutside(mlir::Value value, const Layer &layer);

/// The forward ops of a layer to run again for its backward such that seconds of computing again, plus bytes kept
/// at the price above, are least (a minimum cut between what must be kept and what the backward reads). Neither
/// contractions nor boxes are among them. In program order.
llvm::SmallVector<mlir::Operation *> cheapToRepeat(const Layer &layer, const Sections &sections,
                                                   ir::PlacementAttr placement, const CostModel &machine);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_RECOMPUTE_CHEAP_H_
