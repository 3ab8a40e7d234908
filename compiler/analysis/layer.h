// The layers of a graph, as far as scopes tell them.
#ifndef WEFT_COMPILER_ANALYSIS_LAYER_H_
#define WEFT_COMPILER_ANALYSIS_LAYER_H_

#include "ops/dialect/weft.h"

namespace weft::compiler {

/// Of the scope "h.3.attn" the layer "h.3": everything up to the first number. Empty for a scope without one, such
/// as "ln_f", which is part of no layer.
llvm::StringRef layerOf(llvm::StringRef scope);

/// The layer of a scope; of one that is part of no layer the first part, "ln_f" itself.
llvm::StringRef pieceOf(llvm::StringRef scope);

/// The forward and the backward ops (phases "backward" and "weight") of one layer on one stage, in program order: those
/// that run once a micro-batch. Parameters, and what is made of them once a step, are not among them.
struct Layer {
  llvm::StringRef name; // lives as long as the context
  int64_t stage = 0;
  llvm::SmallVector<mlir::Operation *> forward;
  llvm::SmallVector<mlir::Operation *> backward;
};

/// The layers of a graph in the order of their first forward op. A layer that is cut between stages has one entry
/// a stage.
llvm::SmallVector<Layer> layersOf(ir::GraphOp graph);

} // namespace weft::compiler

#endif // WEFT_COMPILER_ANALYSIS_LAYER_H_
