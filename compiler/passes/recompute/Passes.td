#ifndef WEFT_COMPILER_PASSES_RECOMPUTE
#define WEFT_COMPILER_PASSES_RECOMPUTE

include "mlir/Pass/PassBase.td"

def RecomputeClone : Pass<"weft-recompute-clone", "::weft::ir::GraphOp"> {
  let summary = "Computes forward values again for the backward, instead of keeping them";
  let description = [{
    Layer by layer (see compiler/analysis/layer.h), forward ops are cloned in front of the layer's first backward op,
    and the backward reads the clones. Clones carry `phase = "recompute"` and every other attribute of the original, the
    seed of a dropout too, so that they compute the same bits.

    - `none` keeps everything;
    - `selective` clones what is cheaper to compute again than to keep: chains of element-wise ops, normalisations and
      softmax whose operands are kept anyway, such as the result of a GELU; and boxes, such as the gather of a product's
      input, where the link is fast enough. A byte kept is priced as the time in which memory moves 16 bytes. Contractions
      never run again;
    - `full` keeps the layer's inputs alone and clones whatever its backward needs, contractions and collectives too.

    What arrives from another stage, what another layer's backward reads, and what follows from parameters alone is
    never cloned. A clone that gathers activations stands in front of its first reader, and takes the phase `weight` if all
    of its readers have it, so that what is gathered is there no longer than it must. Ops outside of layers keep what they
    keep: they begin and end a forward, where keeping costs little.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"policy", "policy", "std::string", "\"none\"", "what is done to layers that `layers` does not name">,
    ListOption<"layers", "layers", "std::string", "a layer and its policy, as in h.0=full">,
  ];
  let statistics = [
    Statistic<"numCloned", "cloned", "ops that are computed again">,
  ];
}

#endif
