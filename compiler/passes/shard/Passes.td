#ifndef WEFT_COMPILER_PASSES_SHARD
#define WEFT_COMPILER_PASSES_SHARD

include "mlir/Pass/PassBase.td"

def ShardInfer : Pass<"weft-shard-infer", "::weft::ir::GraphOp"> {
  let summary = "Chooses an SBP for every value";
  let description = [{
    Pins are honoured: parameters lie as their `sbp(...)` says (axes not named: B), results of
    `weft.to_global` likewise, inputs are split over the axes of which compiler/job/axes.h says so: `data`
    and `context`. For all other ops a signature of the sharding rule is chosen, axis by axis, so that the
    seconds of a step are few: compute and boxes of the whole graph, forward and backward together, by the rates
    of its `weft.machine`. What runs once a micro-batch counts as often. Reductions of sums over the micro-batches run
    beside the last backward and count half. What a parameter's pin or an axis of the batch splits stays so where it
    can. The search starts greedily in program order, and then improves single ops, whole paths and connected regions
    until nothing changes.

    Afterwards every type carries its SBP, and every use that wants another one reads a `weft.box`.
    With `broadcast`, everything that is not pinned is B; for finding faults.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"broadcast", "broadcast", "bool", "false", "B wherever nothing is pinned">,
  ];
  let statistics = [
    Statistic<"numBoxes", "boxes", "boxes inserted">,
  ];
}

#endif
