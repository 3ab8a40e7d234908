// The `task` dialect: what one stage's ranks do, with local tiles and memory.
#ifndef WEFT_COMPILER_DIALECT_TASK
#define WEFT_COMPILER_DIALECT_TASK

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ops/dialect/base.td"

def Task_Dialect : Dialect {
  let name = "task";
  let cppNamespace = "::weft::task";
  let summary = "Per-stage programs: buffers, kernels, collectives, actors";
  let description = [{
    `localize` turns a graph into one `task.program` a stage, run by every rank of the stage's mesh. A value is
    now a buffer: memory with a type that still tells the global shape and the SBP, from which the local
    tile follows. Kernels read and write buffers in order. `schedule` groups them into actors on
    streams, `memory` gives every buffer its place in the arena, and `emit` writes the plan.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::weft::ir::WeftDialect"];
}

def Task_BufferType : TypeDef<Task_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Memory for one rank's tile of a global tensor";
  let description = "Example: `!task.buffer<tensor<8x4xf32, #weft.sbp<S(0)>>>`";
  let parameters = (ins "::mlir::RankedTensorType":$tensor);
  let assemblyFormat = "`<` $tensor `>`";
  let genVerifyDecl = 1;
}

def Task_BufferKind : I32EnumAttr<"BufferKind", "what a buffer is for", [
    I32EnumAttrCase<"Activation", 0, "activation">, I32EnumAttrCase<"Parameter", 1, "parameter">,
    I32EnumAttrCase<"Optimizer", 2, "optimizer">, I32EnumAttrCase<"Gradient", 3, "gradient">,
    I32EnumAttrCase<"Communication", 4, "communication">, I32EnumAttrCase<"Input", 5, "input">,
    I32EnumAttrCase<"Output", 6, "output">, I32EnumAttrCase<"Working", 7, "working">,
    I32EnumAttrCase<"Cache", 8, "cache">]> {
  let cppNamespace = "::weft::task";
}

def Task_Section : I32EnumAttr<"Section", "how often an act happens", [
    I32EnumAttrCase<"Micro", 0, "micro">, I32EnumAttrCase<"Step", 1, "step">,
    I32EnumAttrCase<"Begin", 2, "begin">]> {
  let cppNamespace = "::weft::task";
}

def Task_StreamKind : I32EnumAttr<"StreamKind", "what a stream does", [
    I32EnumAttrCase<"Compute", 0, "compute">, I32EnumAttrCase<"Communication", 1, "communication">,
    I32EnumAttrCase<"Host", 2, "host">]> {
  let cppNamespace = "::weft::task";
}

def Task_CollectiveKind : I32EnumAttr<"CollectiveKind", "what a collective does", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"ReduceScatter", 1, "reduce_scatter">,
    I32EnumAttrCase<"AllGather", 2, "all_gather">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
    I32EnumAttrCase<"Shift", 4, "shift">, I32EnumAttrCase<"Zigzag", 5, "zigzag">]> {
  let cppNamespace = "::weft::task";
}

class Task_Op<string opMnemonic, list<Trait> traits = []> : Op<Task_Dialect, opMnemonic, traits>;

def Task_ProgramOp : Task_Op<"program", [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "What every rank of one stage runs in a step";
  let description = [{
    `schedule` adds `units`, the order of the micro-batch section: `F3` is the forward of micro-batch 3, `B` a
    backward, `W` the part of a split one that only gradients of parameters need; `F3.1` belongs to the
    second chunk of the model that this stage has. Without it: `F0`, `B0`, `F1`, `B1` and so on. With `overlap` units of
    one kind for as many micro-batches follow each other, and are done together: each actor acts for one after the other.

    Example:
    ```mlir
    task.program @stage0 on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
      ...
    }
    ```

    **Constraints:** `units` are units, of micro-batches that there are; `overlap` is 1 or more.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Weft_PlacementAttr:$placement, I64Attr:$micro_batches,
                       OptionalAttr<StrArrayAttr>:$units, DefaultValuedAttr<I64Attr, "1">:$overlap);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `on` $placement `micro_batches` `(` $micro_batches `)`
    (`units` $units^)? (`overlap` `(` $overlap^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Task_BufferOp : Task_Op<"buffer"> {
  let summary = "Declares a buffer";
  let description = [{
    `init` (parameters and optimizer state) names the kernel that fills it at the start, with its attributes;
    `stored` is the shape in checkpoint files when it differs, and `stored_type` the wider element type that a parameter of a
    function has there. A working buffer with `init "cast"` is a narrow copy of the parameter that its attribute `of` names,
    and is kept from step to step. `schedule` sets the slots that its order needs; where they
    lie in the arena is decided on the plan. Where the tensor is padded, `unpadded` is the shape of what it stands for.
    `tier` names the cluster's tier below the device in which it lies; absent: on the device.

    Example: `%0 = task.buffer "wte.weight" parameter : !task.buffer<tensor<256x64xf32, #weft.sbp<B>>>`

    **Constraints:** one or more slots.
  }];
  let arguments = (ins StrAttr:$name, Task_BufferKind:$kind, DefaultValuedAttr<I64Attr, "1">:$slots,
                       OptionalAttr<StrAttr>:$init,
                       OptionalAttr<DictionaryAttr>:$init_attributes, OptionalAttr<DenseI64ArrayAttr>:$stored,
                       OptionalAttr<DenseI64ArrayAttr>:$unpadded, OptionalAttr<StrAttr>:$tier,
                       OptionalAttr<TypeAttr>:$stored_type);
  let results = (outs Task_BufferType:$buffer);
  // On the device.
  let builders = [OpBuilder<(ins "mlir::Type":$type, "mlir::StringAttr":$name, "BufferKind":$kind,
                                 "mlir::DenseI64ArrayAttr":$unpadded),
                            [{ build($_builder, $_state, type, name, BufferKindAttr::get($_builder.getContext(), kind),
                                     $_builder.getI64IntegerAttr(1), mlir::StringAttr(), mlir::DictionaryAttr(),
                                     mlir::DenseI64ArrayAttr(), unpadded, mlir::StringAttr(), mlir::TypeAttr()); }]>];
  let assemblyFormat = [{
    $name $kind (`slots` `(` $slots^ `)`)? (`init` $init^ $init_attributes)? (`stored` $stored^)?
    (`stored_type` $stored_type^)? (`unpadded` $unpadded^)? (`tier` $tier^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Task_AliasOp : Task_Op<"alias", [Pure]> {
  let summary = "Another view of a buffer's bytes";
  let description = [{
    Example: `%1 = task.alias %0 : !task.buffer<tensor<4x6xf32, #weft.sbp<>>> as !task.buffer<tensor<24xf32, #weft.sbp<>>>`

    **Constraints:** both have as many elements of one type.
  }];
  let arguments = (ins Task_BufferType:$source, OptionalAttr<DenseI64ArrayAttr>:$unpadded);
  let results = (outs Task_BufferType:$buffer);
  let assemblyFormat = "$source (`unpadded` $unpadded^)? attr-dict `:` type($source) `as` type($buffer)";
  let hasVerifier = 1;
}

def Task_KernelOp : Task_Op<"kernel", [AttrSizedOperandSegments]> {
  let summary = "Runs a kernel on local tiles";
  let description = [{
    A buffer in both lists is updated in place. `constants` reach the kernel as attributes. `in_place` has one
    entry an output: the input whose bytes the kernel may overwrite with it, or -1. `cost` is what one run does on
    one rank: FLOPs of matrix products, other FLOPs, bytes read and written. `product` is what those FLOPs are, if they
    are of one contraction: `batch` products of [m, k] by [k, n]; `within` names the kernel that they are a part of.
    `cell` names the `cell.kernel` that says what a generated kernel computes, of
    the inputs and outputs in their order, and `randoms` the seed and the tensor of each `cell.random` in it. Of a `batch`
    one, `segments` says for how many tensors it is run: behind the shared inputs come those of one after another, and so
    do outputs.

    Example: `task.kernel "add" ins(%a, %b : !t, !t) outs(%c : !t) {} micro in_place [0] cost [0., 64., 768.]`

    **Constraints:** `in_place` names an input, or -1, for each output; `cost` has three numbers of 0 or more;
    `product` has batch, m, n and k of 1 or more, and a type;
    "accumulate" has ins (term, sum) and outs (sum, or a view of its bytes), "accumulate_einsum" ins (left, right, sum) and such outs,
    "accumulate_embedding_grad" ins (ids, gradient, sum) and such outs, and "input" one output and no inputs;
    "fetch" has a buffer of a tier as its input and one of the device as its output, "store" the other way round; the
    constant "sum" of a fetch says that it does nothing for the first micro-batch.
  }];
  let arguments = (ins StrAttr:$name, Variadic<Task_BufferType>:$inputs, Variadic<Task_BufferType>:$outputs,
                       DictionaryAttr:$constants, Task_Section:$section, OptionalAttr<DenseI64ArrayAttr>:$in_place,
                       OptionalAttr<DenseF64ArrayAttr>:$cost, OptionalAttr<DictionaryAttr>:$product,
                       OptionalAttr<FlatSymbolRefAttr>:$cell,
                       OptionalAttr<TypedArrayAttrBase<DictionaryAttr, "seeds and tensors">>:$randoms,
                       OptionalAttr<I64Attr>:$segments);
  // Without a cost.
  let builders = [OpBuilder<(ins "mlir::StringAttr":$name, "mlir::ValueRange":$inputs, "mlir::ValueRange":$outputs,
                                 "mlir::DictionaryAttr":$constants, "Section":$section,
                                 "mlir::DenseI64ArrayAttr":$in_place),
                            [{ build($_builder, $_state, name, inputs, outputs, constants, section, in_place,
                                     mlir::DenseF64ArrayAttr(), mlir::DictionaryAttr(), mlir::FlatSymbolRefAttr(), mlir::ArrayAttr(), mlir::IntegerAttr()); }]>];
  let assemblyFormat = [{
    $name (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    $constants $section (`in_place` $in_place^)? attr-dict (`cost` custom<Cost>($cost)^)? (`product` $product^)?
    (`cell` $cell^)? (`randoms` $randoms^)? (`segments` $segments^)?
  }];
  let hasVerifier = 1;
}

def Task_CollectiveOp : Task_Op<"collective"> {
  let summary = "A collective among the ranks that differ on `axes` only";
  let description = [{
    `all_reduce`: P to B; `reduce_scatter`: P to S(dim); `all_gather`: S(dim) to B; `all_to_all`: S(dim) to
    S(split_dim); `shift`: S(dim) to S(dim), a part to the member `by` places on; `zigzag`: S(dim) to S(dim), a half
    of a part to the member as far from the other end, or `back`. `max` takes the maximum instead of the sum.

    Example: `task.collective all_reduce [0] %0 to %0 step : !t, !t`

    **Constraints:** axes are distinct, ascending and in the mesh; the SBP of the buffers changes as the kind says,
    on those axes alone.
  }];
  let arguments = (ins Task_CollectiveKind:$kind, DenseI64ArrayAttr:$axes, UnitAttr:$max, OptionalAttr<I64Attr>:$dim,
                       OptionalAttr<I64Attr>:$split_dim, OptionalAttr<I64Attr>:$by, UnitAttr:$back, Task_BufferType:$input, Task_BufferType:$output,
                       Task_Section:$section);
  let assemblyFormat = [{
    $kind $axes (`max` $max^)? (`dim` $dim^)? (`split` $split_dim^)? (`by` $by^)? (`back` $back^)? $input `to` $output $section attr-dict
    `:` type($input) `,` type($output)
  }];
  let hasVerifier = 1;
}

def Task_SendOp : Task_Op<"send"> {
  let summary = "Gives a buffer's tiles to another stage";
  let description = "Example: `task.send 0 %0 micro : !t`";
  let arguments = (ins I64Attr:$transfer, Task_BufferType:$buffer, Task_Section:$section);
  let assemblyFormat = "$transfer $buffer $section attr-dict `:` type($buffer)";
}

def Task_ReceiveOp : Task_Op<"receive"> {
  let summary = "Takes a buffer's tiles from another stage";
  let description = "Example: `task.receive 0 %0 micro : !t`";
  let arguments = (ins I64Attr:$transfer, Task_BufferType:$buffer, Task_Section:$section);
  let assemblyFormat = "$transfer $buffer $section attr-dict `:` type($buffer)";
}

def Task_MetricOp : Task_Op<"metric"> {
  let summary = "A scalar reported each step";
  let description = "Example: `task.metric \"loss\" %0 : !t`";
  let arguments = (ins StrAttr:$name, Task_BufferType:$buffer);
  let assemblyFormat = "$name $buffer attr-dict `:` type($buffer)";
}

def Task_ActorOp : Task_Op<"actor", [NoTerminator, SingleBlock]> {
  let summary = "Work done in one go on one stream";
  let description = [{
    Kernels in order, or collectives over the same axes that are done as one operation, or one end of a transfer.
    Actors of a stream act in this order: those of the begin section, for each of the program's units those of the unit, those of the step section;
    among these in program order. `unit` is that of a schedule without its micro-batch, as in `F` or `B.1`.
    Actors of one kind of stream are on different streams if `lane` differs. Besides what its work reads, an actor waits
    for the buffers `after` to be written, for the same micro-batch, without touching a byte of them: so that it
    does not begin as early as its work alone would let it.

    Example:
    ```mlir
    task.actor "h.0.forward" compute micro unit "F" {
      task.kernel "add" ins(%a, %b : !t, !t) outs(%c : !t) {} micro
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Task_StreamKind:$stream, OptionalAttr<StrAttr>:$lane, Task_Section:$section,
                       OptionalAttr<StrAttr>:$unit, DefaultValuedAttr<I64Attr, "0">:$chunk,
                       Variadic<Task_BufferType>:$after);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name $stream (`lane` $lane^)? $section (`unit` $unit^)? (`chunk` $chunk^)?
    (`after` `(` $after^ `:` type($after) `)`)? attr-dict-with-keyword $body
  }];
}

#endif
