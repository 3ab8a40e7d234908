// Ops that give a graph its structure: parameters, layouts, what a step is for.
#ifndef WEFT_OPS_DIALECT_STRUCTURE
#define WEFT_OPS_DIALECT_STRUCTURE

include "ops/dialect/base.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def Weft_GraphOp : Op<Weft_Dialect, "graph", [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "A program on global tensors";
  let description = [{
    What `elaborate` makes of a `model.graph`: arguments, each behind its name, are the
    inputs of a micro-batch. `placements` are the meshes; the first one
    is the default. An op with the attribute `stage = n` lives on placement n, and one with
    `chunk = c` belongs to part c of a model that is cut for a pipeline. An input that several
    stages read is an argument on each of them, which `input_stages` names.

    Example:
    ```mlir
    weft.graph @train("tokens" %tokens: tensor<4x64xi32>) placements [#weft.placement<"cpu", [data = 2], [0, 1]>] {
      ...
    }
    ```

    **Constraints:**
    - one name an argument, none twice on a stage; every argument is a ranked tensor
    - `input_stages`, if given, has one entry an argument
    - `stage` of an op or input is less than the number of placements (at least one)
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$inputs, ArrayAttr:$placements,
                       DefaultValuedAttr<I64Attr, "1">:$micro_batches,
                       OptionalAttr<DenseI64ArrayAttr>:$input_stages);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    PlacementAttr getPlacement(int64_t stage) { return ::llvm::cast<PlacementAttr>(getPlacements()[stage]); }
    /// The stage that reads input `index`.
    int64_t getInputStage(unsigned index) { return getInputStages() ? (*getInputStages())[index] : 0; }
  }];
}

def Weft_ParameterOp : Weft_Op<"parameter"> {
  let summary = "A tensor that lives from step to step";
  let description = [{
    Declares a parameter of the model. With `state` no gradient trains it: `weft.assign` says what it is in the next
    step, as running statistics, and what the optimizer keeps. Files have a state of the model with its parameters.
    `elaborate` turns `name` into the full name (`h.0.attn.c_attn.weight`). `stored`
    is the shape in checkpoint files when it differs (same number of elements). A `*` in the name stands for the
    index of dimension 0: files have a tensor for each, such as `experts.0.w1.weight` and on for `experts.*.w1.weight`.
    `sbp(...)` pins how it lies over the named mesh axes; with `pinned` no job may change that, and no search does.

    Example:
    ```mlir
    %w = weft.parameter "weight" [hidden, 3, heads, hidden floordiv heads] stored [hidden, 3 * hidden]
           init(normal 0.02) sbp(tensor = S(2))
    ```

    **Constraints:**
    - extents are positive, those of `stored` too
    - `stored` has as many elements as the shape
    - a name has at most one `*`; there is then a dimension 0, of the same extent in `stored`
  }];
  let arguments = (ins StrAttr:$name, Weft_Integers:$shape, OptionalAttr<Weft_Integers>:$stored, Weft_InitAttr:$init,
                       OptionalAttr<DictionaryAttr>:$pins, UnitAttr:$pinned, UnitAttr:$state,
                       OptionalAttr<I64Attr>:$seed);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $name custom<Numbers>($shape) (`stored` custom<Numbers>($stored)^)? custom<Init>($init) `` custom<Pins>($pins)
    (`pinned` $pinned^)? (`state` $state^)? attr-dict `` custom<Types0>(type($result))
  }];
}

def Weft_ToGlobalOp : Weft_DifferentiableOp<"to_global"> {
  let summary = "Pins how a value lies over a mesh";
  let description = [{
    The result is the operand with the SBP named; axes that are not named are `B`. With
    `placement(device, ranks)` it lies on another mesh. Its gradient returns to where it came from.

    Example: `%1 = weft.to_global %0 sbp(S(0), S(1)) placement("cpu", [[0, 1], [2, 3]])`
  }];
  let arguments = (ins Weft_Tensor:$input, OptionalAttr<DictionaryAttr>:$pins, OptionalAttr<StrAttr>:$device,
                       OptionalAttr<ArrayAttr>:$ranks);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `` custom<Pins>($pins) (`placement` `(` $device^ `,` $ranks `)`)? attr-dict
    `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = Weft_anyPrecision;
}

def Weft_BoxOp : Op<Weft_Dialect, "box", [Pure]> {
  let summary = "Changes the SBP, or the placement, of a value";
  let description = [{
    The value stays the same; how it lies over the mesh changes. Inserted by the
    `box` phase wherever a producer and a consumer disagree.

    Example: `%1 = weft.box %0 : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xf32, #weft.sbp<B>>`

    **Constraints:** operand and result have one shape and element type, and an SBP.
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `` custom<Types1>(type($input), type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Weft_ShiftOp : Op<Weft_Dialect, "shift", [Pure]> {
  let summary = "Gives each rank's tile to another rank of a mesh axis";
  let description = [{
    A rank gets the tile of the rank `by` places before it along mesh axis `axis`; the first ones get those of the
    last. So along the dimension that the axis splits, the tiles of the result are those of the operand, turned. The
    `box` phase inserts it between the blocks of an attention whose keys go round.

    Example: `%1 = weft.shift %0 axis(0) by(1) : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>`

    **Constraints:** operand and result have one type, with an SBP that is split on the axis; `by` is 1 or more.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis, I64Attr:$by);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `axis` `(` $axis `)` `by` `(` $by `)` attr-dict `` custom<Types1>(type($input), type($result))";
  let hasVerifier = 1;
}

def Weft_ZigzagOp : Op<Weft_Dialect, "zigzag", [Pure]> {
  let summary = "Gives each rank of a mesh axis one piece from either end of a dimension, in place of two neighbours";
  let description = [{
    The dimension that mesh axis `axis` of `c` ranks splits is `2 c` pieces long, of which rank `r` has `2 r` and
    `2 r + 1`. Of the result it has two whose numbers add up to `2 c - 1`, the lower one first: `2 r` and `2 c - 1 - 2 r` on the
    first ranks; rank `c - 1 - r`, with which rank `r` exchanges a piece, has `2 r + 1` and `2 c - 2 - 2 r`. With `back` it is the
    other way round.

    Where later rows of a sequence cost more than earlier ones, all ranks have as much to do then (Llama Team, "The Llama 3
    Herd of Models", 2024, section 3.3.2). The `box` phase inserts it around attention whose keys go round.

    Example: `%1 = weft.zigzag %0 axis(0) : (tensor<8x4xf32, #weft.sbp<S(0)>>) -> tensor<8x4xf32, #weft.sbp<S(0)>>`

    **Constraints:** operand and result have one type, with an SBP that is split on the axis.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis, UnitAttr:$back);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `axis` `(` $axis `)` (`back` $back^)? attr-dict `` custom<Types1>(type($input), type($result))
  }];
  let hasVerifier = 1;
}

def Weft_MinimizeOp : Op<Weft_Dialect, "minimize"> {
  let summary = "What training makes smaller";
  let description = [{
    Minimizes the sum of `loss` over the micro-batches of a step divided by the sum of `count`, or by
    the number of micro-batches without one. Dividing once, after all micro-batches, makes
    the result independent of how a batch is cut. `autodiff` consumes this op.

    A graph may have several, each with a name, under which every step reports it. What is minimized, the metric `loss`, is
    then the sum of all, each divided by its own count and multiplied by its `weight`, 1 unless given.

    `rows(number)` says how many rows count in every micro-batch. Losses with several counts need it where a step has
    several micro-batches: the gradients of all are one sum, so how they weigh has to be known in each.

    Example: `weft.minimize %loss per %count`,
    `weft.minimize "words" %a per %n rows(batch * 19)` beside `weft.minimize "order" %b per %m rows(batch) weight(0.5)`

    **Constraints:**
    - loss and count are float32 scalars
    - `rows` is above 0, `weight` is finite and not 0
    - several in a graph have a name each
    - with several micro-batches their counts are one value, or all have `rows`, or none has a count
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$name, Weft_Tensor:$loss, Optional<Weft_Tensor>:$count,
                       OptionalAttr<Weft_Number>:$rows, OptionalAttr<Weft_Number>:$weight);
  let assemblyFormat = [{
    ($name^)? $loss (`per` $count^)? (`rows` `(` custom<Number>($rows)^ `)`)?
    (`weight` `(` custom<Number>($weight)^ `)`)? attr-dict
    `` custom<Minimized>(ref($count), type($loss), type($count))
  }];
  let hasVerifier = 1;
}

def Weft_AccumulateOp : Weft_Op<"accumulate"> {
  let summary = "Sum over the micro-batches of a step";
  let description = [{
    Takes a value once a micro-batch and yields the sum once a step. Everything
    that depends on it happens once a step. `sbp(...)` pins how the sum lies over the mesh axes that it names.

    Example: `%sum = weft.accumulate %gradient sbp(data = S(0))`

    **Constraints:** in a graph that is trained, neither the input nor what is minimized depends on another sum, which is
    not whole before the last micro-batch.
  }];
  let arguments = (ins Weft_Tensor:$input, OptionalAttr<DictionaryAttr>:$pins);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `` custom<Pins>($pins) attr-dict `` custom<Types1>(type($input), type($result))";
}

def Weft_UpdateOp : Op<Weft_Dialect, "update"> {
  let summary = "A parameter and its gradient, before the optimizer is chosen";
  let description = [{
    Made by `autodiff`, consumed by `optimizer`: `gradient` is the sum over a step of the gradients of the
    loss; the gradient of what is minimized is `gradient / count`.

    Example: `weft.update %w with %gradient per %count`

    **Constraints:** `parameter` is the result of a `weft.parameter` and has the type of `gradient`; `count` is a
    float32 scalar.
  }];
  let arguments = (ins Weft_Tensor:$parameter, Weft_Tensor:$gradient, Weft_Tensor:$count);
  let assemblyFormat = [{
    $parameter `with` $gradient `per` $count attr-dict
    `` custom<Types3>(type($parameter), type($gradient), type($count))
  }];
  let hasVerifier = 1;
}

def Weft_AssignOp : Weft_Op<"assign"> {
  let summary = "Stores the next value of a parameter";
  let description = [{
    Happens at the end of a step, after every reader. `target` is the result of a `weft.parameter`. A value that each
    micro-batch makes is stored as the last one leaves it; `weft.accumulate` is the sum over them.

    Example: `weft.assign %w, %next`

    **Constraints:**
    - `target` is a parameter; both types are equal
    - in a graph that a job compiles: the graph is trained, the optimizer does not update the target, and nothing else is
      assigned to it
  }];
  let arguments = (ins Weft_Tensor:$target, Weft_Tensor:$value);
  let assemblyFormat = "$target `,` $value attr-dict `` custom<Types2>(type($target), type($value))";
}

def Weft_OutputOp : Op<Weft_Dialect, "output"> {
  let summary = "A named result of the graph";
  let description = [{
    For a function: a tensor written to the output file. With `metric`, in a graph that is trained: a float32 scalar,
    whose mean over the micro-batches is shown each step and is in the file of `weft run --metrics`; what is made of a
    `weft.accumulate` is shown as it is.

    Example: `weft.output "logits" %logits`, `weft.output "z_loss" metric %z`

    **Constraints:**
    - a metric is a float32 scalar
    - its name is letters, digits, `_`, `.` and `-`
  }];
  let arguments = (ins StrAttr:$name, UnitAttr:$metric, Weft_Tensor:$value);
  let assemblyFormat = "$name (`metric` $metric^)? $value attr-dict `` custom<Types1>(type($value))";
  let hasVerifier = 1;
}

#endif
