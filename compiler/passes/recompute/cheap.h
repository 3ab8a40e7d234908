// What the backward computes again because that is cheaper than to keep it from the forward: a minimum cut of each
// layer.
//
//   forward    %a = einsum ─▶ %b = gelu ─▶ %c = einsum      gelu reads and writes few bytes, and no product
//   backward   needs %a and %b                              ─▶ keep %a, compute %b again
//
//   forward    %a = layer_norm ─▶ %b = box S(1) -> B ─▶ %c = einsum
//   backward   needs %b                                     ─▶ keep what %a is made of; norm and gather run again
#ifndef WEFT_COMPILER_PASSES_RECOMPUTE_CHEAP_H_
#define WEFT_COMPILER_PASSES_RECOMPUTE_CHEAP_H_

#include "compiler/analysis/layer.h"
#include "compiler/analysis/machine.h"
#include "compiler/analysis/section.h"

namespace weft::compiler {

/// The price of keeping a byte from forward to backward: the time in which a rank's memory moves so many bytes.
/// Example: an element-wise op moves two bytes for each byte of its result, so a chain of up to eight of them is run
/// again.
inline constexpr double kBytesMovedForOneKept = 16;

/// True of a box whose operand is on another stage: what it receives is never sent a second time.
bool crossesStages(mlir::Operation *op);

/// True if something outside of the layer keeps `value`, the result of one of its forward ops, until the backward:
/// another layer's backward (be it original or clone) reads it.
bool isKeptOutside(mlir::Value value, const Layer &layer);

/// The forward ops of a layer to run again for its backward such that seconds of computing again, plus bytes kept
/// at the price above, are least (a minimum cut between what must be kept and what the backward reads). Contractions
/// are not among them. A box is, where its route takes less than that price: of a gather the shards are kept, and
/// gathered again (Korthikanti et al., "Reducing activation recomputation in large transformer models", 2022). In
/// program order.
llvm::SmallVector<mlir::Operation *> cheapToRepeat(const Layer &layer, const Sections &sections,
                                                   ir::PlacementAttr placement, const CostModel &machine);

} // namespace weft::compiler

#endif // WEFT_COMPILER_PASSES_RECOMPUTE_CHEAP_H_
