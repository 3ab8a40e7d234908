#ifndef WEFT_COMPILER_PASSES_BOX
#define WEFT_COMPILER_PASSES_BOX

include "mlir/Pass/PassBase.td"

def BoxRoute : Pass<"weft-box-route", "::weft::ir::GraphOp"> {
  let summary = "Cuts every box into primitive steps";
  let description = [{
    Boxes that follow each other are merged; each is then replaced by the cheapest route of steps that one
    collective or one local kernel can do (see compiler/analysis/boxing.h). A box to another placement first
    sheds pending sums at the source, then crosses, then takes up pending sums at the target: the crossing
    itself goes between layouts of `S` and `B`. What a route costs follows the graph's `weft.machine`.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let statistics = [
    Statistic<"numSteps", "steps", "primitive steps">,
    Statistic<"numMerged", "merged", "boxes merged into the next">,
  ];
}

#endif
