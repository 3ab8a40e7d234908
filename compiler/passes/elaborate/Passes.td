// The passes of `elaborate`: from a model file to one graph on tensors of known shape.
#ifndef WEFT_COMPILER_PASSES_ELABORATE
#define WEFT_COMPILER_PASSES_ELABORATE

include "mlir/Pass/PassBase.td"

def ElaborateImports : Pass<"weft-elaborate-imports", "::mlir::ModuleOp"> {
  let summary = "Takes in imported model files";
  let description = [{
    Replaces each `model.import` by what the file holds. Paths are relative to the
    importing file. A file that is reached over several ways is taken in once; a
    file that is missing, or imports itself over others, is an error.
  }];
  let dependentDialects = ["::weft::model::ModelDialect"];
}

def ElaborateConfig : Pass<"weft-elaborate-config", "::mlir::ModuleOp"> {
  let summary = "Evaluates the model's configuration";
  let description = [{
    Gives each `model.config` its value: the job's where it sets one, the file's
    otherwise. Values may use each other in any order. `batch` is declared here.

    Example: `--weft-elaborate-config="set=hidden=64,ffn=4*hidden batch=4"`
  }];
  let dependentDialects = ["::weft::model::ModelDialect"];
  let options = [
    ListOption<"set", "set", "std::string", "values of config names, each name=expression">,
    Option<"batch", "batch", "int64_t", "0", "sequences a micro-batch; 0: only if the file declares it">,
  ];
}

def ElaborateInstantiate : Pass<"weft-elaborate-instantiate", "::mlir::ModuleOp"> {
  let summary = "Puts layers in the place of calls";
  let description = [{
    Leaves one `model.graph` without calls and repeats, in which every expression is a
    number, every parameter has its full name and every op says where it stands:
    `scope = "h.0.attn"`. Ops that draw random numbers, and parameters, get a seed from
    that name, which edits elsewhere do not change. The location of an op is
    its line in the layer, called from the line of the call, called from ...
  }];
  let dependentDialects = ["::weft::model::ModelDialect"];
  let options = [
    Option<"graph", "graph", "std::string", "\"\"", "the graph to compile; may be empty if there is one">,
  ];
}

def ElaborateGenerate : Pass<"weft-elaborate-generate", "::weft::ir::GraphOp"> {
  let summary = "Makes of a causal function one that goes on with sequences";
  let description = [{
    Before: a function of tokens [batch, sequence]. Behind it: one of the next `chunk` tokens of each sequence and their
    `positions`, which yields the last row of what the function yields.

    The keys and values of each causal attention stand in caches, [batch, sequence, heads, head size]: parameters with
    `state` that are no model's. Rows are written at their positions, and each row sees those up to its own. All other
    ops have to make each row of that row, as their sharding rules say; what they meet of the whole sequence, such as a
    table of positions, is taken at the positions, and so are biases and masks of attention. Ops that sort rows by a key,
    multiply each by the matrix of its key and put it back do so together. Anything else is an error.

    Rows that stand twice, the same token at the same position, change nothing: so a sequence with fewer tokens than
    others repeats its last one.
  }];
  let options = [
    Option<"chunk", "chunk", "int64_t", "1", "tokens of each sequence">,
  ];
}

def ElaboratePins : Pass<"weft-elaborate-pins", "::mlir::ModuleOp"> {
  let summary = "Pins parameters as the job says";
  let description = [{
    Each pin is the name of parameters, in which `*` stands for anything, an axis and a state. What a model's `sbp(...)` says
    of other axes stays. A parameter that the model calls `pinned` stays as it is: a name that it has is an error, and so
    is a name that no parameter has. `*` alone stands for all parameters but those.

    Example: `--weft-elaborate-pins="pins=h.*.mlp.c_fc.weight|tensor|S(1)"`
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    ListOption<"pins", "pins", "std::string", "each `parameter|axis|state`">,
  ];
}

def ElaborateInfer : Pass<"weft-elaborate-infer", "::mlir::ModuleOp"> {
  let summary = "Infers shapes and element types, op by op";
  let description = [{
    Turns the `model.graph` into a `weft.graph` on ranked tensors. It lies on the mesh of the module's attribute
    `weft.meshes`, without one on a single CPU rank. Where that lists several, one a stage of a pipeline, it lies on a
    mesh with the axes of any, and keeps the list; the module's `weft.machine` becomes the graph's too. Ops that
    change nothing, such as a dropout of rate 0, are left out.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"microBatches", "micro-batches", "int64_t", "1", "micro-batches a step of training">,
  ];
}

def ElaboratePlace : Pass<"weft-elaborate-place", "::weft::ir::GraphOp"> {
  let summary = "Finds the placement of every op, and checks the pins";
  let description = [{
    Every `weft.to_global` with a placement adds a mesh to the graph's list, unless it
    is there; the attribute `stage` then says it, absent for placement 0. A
    mesh of raw ranks takes the place of the job's if that has no axes. Then:

    - a `weft.to_global` with a placement lives there;
    - an op lives where its operands live, parameters, random tensors and
      inputs not counted: on the last of their placements in the list, or on placement 0;
    - an op without operands lives on the first placement, in the list, of its users.

    Pins are checked, for every axis of the job, and then left for those of the op's mesh: a pin by name
    is for an axis that may have size 1, by position for each axis of a mesh of raw ranks. A
    dimension exists; a parameter is not a pending sum. An axis of the job that splits no input, and that no pin
    names, is an error: its ranks would compute what others compute.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
}

#endif
