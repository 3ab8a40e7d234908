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
    What several units of a schedule read is of the first of them (compiler/analysis/unit_order.h).
    With `broadcast`, everything that is not pinned is B; for finding faults.

    Keys of attention that are split over an axis go round in a ring where that is cheaper than to gather them or to split
    heads. As the axis of the sequence is decided before others that could split heads, the whole is inferred a second time there with
    rings, which are taken where that is 2 % faster. With `rings` they do so wherever the axis splits the sequence of the inputs and the keys divide, or never.

    With `free`, parameters lie along these axes as is best, but for those that the model calls `pinned`: with the
    signatures of all ops the fastest within `limit`, found exactly for one axis after the other. For
    graph.auto_parallel, before ZeRO has shared anything out; `zero-stage` and `zero-ranks` say what it will.
    In a model of which `elaborate` has left layers out (`weft.repeats`), the middle one stands for them.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"broadcast", "broadcast", "bool", "false", "B wherever nothing is pinned">,
    Option<"rings", "rings", "std::string", "\"cheaper\"", "whether attention's keys go round: cheaper, always or never">,
    ListOption<"free", "free", "std::string", "axes along which parameters lie as is best">,
    Option<"limit", "limit", "double", "0", "with `free`: bytes of parameters, gradients, optimizer state and activations; 0: any">,
    Option<"zeroStage", "zero-stage", "int64_t", "0", "with `free`: what ZeRO will share out">,
    Option<"zeroRanks", "zero-ranks", "int64_t", "1", "with `free`: among how many ranks">,
    Option<"inFlight", "in-flight", "double", "1", "with `free`: micro-batches of which activations are kept at once">,
  ];
  let statistics = [
    Statistic<"numBoxes", "boxes", "boxes inserted">,
  ];
}

#endif
