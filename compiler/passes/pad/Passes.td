#ifndef WEFT_COMPILER_PASSES_PAD
#define WEFT_COMPILER_PASSES_PAD

include "mlir/Pass/PassBase.td"

def Pad : Pass<"weft-pad", "::weft::ir::GraphOp"> {
  let summary = "Makes dimensions larger that a mesh axis does not divide";
  let description = [{
    Where a pin, or an axis that splits every input, cuts a dimension unevenly, the dimension grows to the next multiple,
    in every value that has it: a vocabulary of 50257 over 8 ranks becomes 50264. Dimensions are one where the sharding
    rules of ops say so; what is made of several, such as heads times their size, grows by whole heads.

    What lies beyond the extents is padding. `unpadded` at an op says what its results stand for, and no number of
    those depends on padding:

    - Parameters and inputs are 0 there; the runtime sees to it, and checkpoints have none of it.
    - Where a result sums over a padded dimension, `weft.set_padding` makes what is summed 0 there, and where an op names
      another number that adds nothing (`ShardingRule::neutral`), that number. Values that are assigned are 0.
    - An op that needs all of a dimension (a softmax, a slice) gets what is inside the extents, and its results are
      padded again.

    With `samples`, the samples of a step, which the micro-batches need not divide: the last one's missing samples are
    padding too.

    Example: `--weft-pad="samples=10"`
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"samples", "samples", "int64_t", "0", "the samples of a step; 0: as many as its micro-batches have">,
  ];
  let statistics = [
    Statistic<"numGrown", "num-grown", "dimensions made larger, each once for all values that share it">,
    Statistic<"numSet", "num-set", "values whose padding is set">,
    Statistic<"numCropped", "num-cropped", "operands cut to their extents">,
  ];
}

#endif
