#ifndef WEFT_COMPILER_PASSES_PIPELINE
#define WEFT_COMPILER_PASSES_PIPELINE

include "mlir/Pass/PassBase.td"

def PipelineCut : Pass<"weft-pipeline-cut", "::weft::ir::GraphOp"> {
  let summary = "Cuts the forward graph into the chunks of a pipeline";
  let description = [{
    Before autodiff, so that gradients belong where their forward op does. The graph may be cut between layers:
    ops that follow each other and share a scope up to its first number (`h.3`), or the first part of a
    scope without one (`ln_f`); an op without scope goes with what is before it. `stages` times `chunks`
    chunks are made so that the costliest is as cheap as can be, embedding and head counted; `cuts`
    names the layers that begin a chunk instead, or `model.stage` in the model did. A graph with the attribute `weft.chunks`, a
    function that is evaluated between steps of a training, has each layer in the chunk that this says, which may leave one
    empty; a layer that it does not name goes with what is before it. Chunk c lies on stage
    c mod `stages`, with `v-shape` on stage 2 `stages` - 1 - c if that is less than `stages`.

    Every stage has its own ranks: those of stage 0 first, each with the mesh of the graph, or with its own where the
    graph's attribute `weft.meshes` has one for each. A parameter, and an op without operands, is where its first reader is. An input that several
    stages read becomes an argument on each.

    Example: `--weft-pipeline-cut="stages=2 cuts=h.6"`
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"stages", "stages", "int64_t", "1", "stages of the pipeline">,
    Option<"chunks", "chunks", "int64_t", "1", "chunks a stage">,
    Option<"vShape", "v-shape", "bool", "false", "the second chunks go back from the last stage to the first">,
    ListOption<"cuts", "cuts", "std::string", "layers that begin a chunk, all but the first chunk's">,
  ];
}

def PipelineSplit : Pass<"weft-pipeline-split", "::weft::ir::GraphOp"> {
  let summary = "Splits the backward for schedules that fill the bubble with its weight part";
  let description = [{
    Gives the phase `weight` to what only the gradient of a parameter needs: of every `weft.accumulate` the ops that
    make its operand, back to the contraction, the sum over rows or the scatter into a table that begins it.
    What other ops need too stays in the backward, such as a norm's gradient, which makes those of its
    input and its parameters at once. After `box`, so that the communication of a gradient goes with it.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let statistics = [Statistic<"numMoved", "moved", "ops that became part of the weight phase">];
}

#endif
