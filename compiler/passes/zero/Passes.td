#ifndef WEFT_COMPILER_PASSES_ZERO
#define WEFT_COMPILER_PASSES_ZERO

include "mlir/Pass/PassBase.td"

def ZeroPartition : Pass<"weft-zero-partition", "::weft::ir::GraphOp"> {
  let summary = "Splits over the data ranks what each of them need not keep";
  let description = [{
    Pins every parameter that an optimizer updates, and the state of that optimizer, to S(k) on the innermost mesh axis
    that may be shared over (compiler/job/axes.h: `shard`, or `data` where the mesh has no `shard`): k is the first dimension that no other axis cuts and this axis
    divides; a parameter without one stays whole. Then, by `stage` (Rajbhandari et al., "ZeRO: memory
    optimizations toward training trillion parameter models", 2020):

    - 1, 2: what forward and backward read is a copy as the parameter was pinned before, on every stage of a pipeline
      that reads it. It depends on parameters alone, so it is gathered once a step. Where readers begin with a cast,
      the shard is cast and the cast gathered.
    - 1: the sum of a gradient over the micro-batches stays a pending sum of the ranks, reduced once a step.
    - 2, 3: that sum is pinned to S(k), so that gradients are reduced before they are added.
    - 3: every layer gathers its copy once for the forward and once for the backward, `on_use`.

    A moving average of such a parameter, a `state` of the model that is assigned sums and products of itself and the
    parameter, is shared out likewise: its ops work on the shares, and who reads the next average gathers that. So is
    a parameter with the attribute `shared`, which a function reads that is evaluated between steps of a training.

    Example: `--weft-zero-partition="stage=2"`
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"stage", "stage", "int64_t", "1", "1: parameters and state; 2: gradients too; 3: what is read too">,
  ];
  let statistics = [
    Statistic<"numSplit", "num-split", "parameters split">,
    Statistic<"numWhole", "num-whole", "parameters that no dimension of theirs lets split">,
  ];
}

#endif
