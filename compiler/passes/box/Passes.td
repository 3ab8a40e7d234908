#ifndef WEFT_COMPILER_PASSES_BOX
#define WEFT_COMPILER_PASSES_BOX

include "mlir/Pass/PassBase.td"

def BoxRing : Pass<"weft-box-ring", "::weft::ir::GraphOp"> {
  let summary = "Makes attention whose keys are split over an axis a ring";
  let description = [{
    Attention of which an axis splits rows and keys becomes as many blocks as that axis has ranks: `weft.attention` of a
    rank's rows over the keys that it has in turn, and a `weft.shift` of keys and values to the next rank. It comes in front of the
    block that reads the same keys, so that the next ones are under way meanwhile. `weft.attention_merge` adds the blocks up in float32, in the
    order in which they come: keys of the rank itself, then those before them, then, from the end, those behind.
    A gradient is that of each block, with the log sums of whole rows; the sums of `dk` and `dv` go round behind their keys, and home
    after the last block. With a window, blocks that no row sees are left out.

    Under a causal mask, and nothing else that hides keys, the last rank would have twice the work of an average one. Where it
    takes less by the cost model, `weft.zigzag` gives each rank one half of its rows from either end of the sequence: rows and keys
    in front of the blocks, results behind them. The gradient reads rows and keys as the forward has exchanged them.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"zigzag", "zigzag", "std::string", "\"cheaper\"",
           "whether ranks have halves from both ends of the sequence: cheaper, always (where it can be) or never">,
  ];
  let statistics = [
    Statistic<"numRings", "rings", "attention ops that became rings">,
    Statistic<"numZigzags", "zigzags", "of these with halves from both ends of the sequence">,
    Statistic<"numBlocks", "blocks", "blocks that they became">,
  ];
}

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

def BoxChunks : Pass<"weft-box-chunks", "::weft::ir::GraphOp"> {
  let summary = "Does the rows of a loss part by part";
  let description = [{
    Begins at each `weft.sum_exp` of logits. What makes these from something smaller, a product, all that reads them or
    what is made of them as large, and what lies between those ops is done for some of a rank's rows at a time: by
    sharding rules, so that it does not matter what stands between product and loss, nor how ranks share the rest. In front
    of it `weft.take_rows` takes the rows of what is read; behind it results with rows are joined by `weft.join_rows`, and
    sums over the rows, such as the gradient of the product's matrix, are added up in float32. In a training all of it
    belongs to the backward, and so does what is made of the loss: a part's gradients are there before the next part's
    logits are made, and nothing is computed twice.

    Nothing changes where rows have padding or are mixed, where a sum over them is read before all are done, or where
    something that would go to the backward with the loss has matrix products of its own. With `chunks` 0 nothing changes
    either where logits are less than eight times as large as what the product reads of their rows, or where the sums of
    parts would take half of what the logits do.

    The graph's attribute `weft.loss_chunks` tells what was done.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"chunks", "chunks", "int64_t", "0",
           "parts; 0: as many as it takes for 64 MiB of logits, as long as all take hardly longer by the cost model">,
  ];
  let statistics = [
    Statistic<"numCut", "losses", "losses whose rows are done in parts">,
  ];
}

#endif
