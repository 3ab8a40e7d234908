// The `model` dialect: how a model is written down. `elaborate` leaves nothing of it.
#ifndef WEFT_COMPILER_DIALECT_MODEL
#define WEFT_COMPILER_DIALECT_MODEL

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "ops/dialect/base.td"

def Model_Dialect : Dialect {
  let name = "model";
  let cppNamespace = "::weft::model";
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let summary = "The structure of a model file";
  let description = [{
    A model file says what is computed as if on one device: `model.config` names
    numbers, `model.layer` names pieces with parameters, and a `model.graph` is what a
    job compiles. The operators are those of the `weft` dialect; in a model file they
    carry no types, since shapes depend on the configuration. Wherever an op takes a
    number it takes an expression over the names in scope:

    - integers, floats, `+`, `*`, `floordiv`, `mod`, parentheses;
    - `sqrt(x)`, `rsqrt(x)`, `exp(x)`, `log(x)`, `min(a, b)`, `max(a, b)`, `if(condition, then, else)`, of which a
      condition other than 0 holds;
    - in quotes all of that, and `-`, `/` (which gives a float), `<`, `<=`, `>`, `>=`, `==` and `!=`, which give 1 or 0:
      `"hidden / heads"`, `if("layer < 2", 0, rate)`;
    - how a tensor lies over a mesh axis: `S(dim)`, `B`, `P`, `P(max)`;
    - the parameters of the layer, then every `model.config`, then `batch`, the sequences
      of a micro-batch, which the job gives.
  }];
}

// What a layer may be given: a number, a state, or another layer.
def Model_Parameter : AnyAttrOf<[Weft_Number, FlatSymbolRefAttr], "number, expression or layer">;
def Model_Parameters : TypedArrayAttrBase<Model_Parameter, "numbers, expressions or layers">;

class Model_Op<string opMnemonic, list<Trait> traits = []> : Op<Model_Dialect, opMnemonic, traits>;

def Model_ImportOp : Model_Op<"import"> {
  let summary = "Takes in another model file";
  let description = [{
    The layers, configuration and graphs of the file become part of this one. The path
    is relative to the file that the op stands in. A file that is imported
    several times is taken in once.

    With `as` it is taken in once more under names of its own, with all that it imports: its layer `@block` is
    `@base.block` here, and its `hidden` is `base.hidden`, which a job sets as `base.hidden=64`. Only `batch` is everybody's.

    Example: `model.import "../layers.mlir"`, `model.import "../gpt2/gpt2.mlir" as "base"`

    **Constraints:** the file exists, and does not import itself over others; the name behind `as` is letters, digits and `_`.
  }];
  let arguments = (ins StrAttr:$path, OptionalAttr<StrAttr>:$prefix);
  let assemblyFormat = "$path (`as` $prefix^)? attr-dict";
}

def Model_ConfigOp : Model_Op<"config", [Symbol]> {
  let summary = "A named number that a job may set";
  let description = [{
    Example: `model.config @hidden = 768`, `model.config @head_dim = hidden floordiv heads`

    The value may use other configuration names, in any order, but not itself.

    **Constraints:** the name is not `B`, `P` or `S`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Weft_Number:$value);
  let assemblyFormat = "$sym_name `=` custom<Number>($value) attr-dict";
  let hasVerifier = 1;
}

def Model_LayerOp : Model_Op<"layer", [IsolatedFromAbove, Symbol, SingleBlock,
                                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "A piece of a model that can be called";
  let description = [{
    Takes values in parentheses and parameters, known when the model is compiled, in
    brackets. Trailing parameters may have defaults, expressions that may use the
    parameters before them. A parameter may be a layer, `@mlp`: the body calls it by the parameter's name.

    With `override` it takes the place of an imported layer of its name, for all who call that.

    Example:
    ```mlir
    model.layer @linear(%x) [in, out, split = B] {
      %w = weft.parameter "weight" [in, out] init(normal 0.02) sbp(tensor = split)
      %y = weft.einsum "bsi,io->bso" %x, %w
      model.return %y
    }
    model.layer @block(%x) [inner = @linear] {
      %y = model.call @inner "mlp" (%x) [hidden, hidden]
      model.return %y
    }
    ```

    **Constraints:**
    - parameters are distinct, and none is called `B`, `P` or `S`
    - a parameter after one with a default has a default
    - the body ends with `model.return`
    - what has `override` has something to override, checked by `elaborate`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$inputs, StrArrayAttr:$parameters,
                       Model_Parameters:$defaults, UnitAttr:$override);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Model_ReturnOp : Model_Op<"return", [Terminator, HasParent<"LayerOp">]> {
  let summary = "What a layer yields";
  let description = [{
    Example: `model.return %y`, `model.return %key, %value`
  }];
  let arguments = (ins Variadic<Weft_AnyType>:$values);
  let assemblyFormat = "attr-dict custom<Untyped>($values, type($values))";
}

def Model_CallOp : Model_Op<"call"> {
  let summary = "Puts a layer here";
  let description = [{
    The layer's ops take the place of the call. `scope` becomes part of the names of its
    parameters: inside a call named "attn", `weft.parameter "weight"` is `attn.weight`. It
    may be left out, then nothing is added. A layer of several results is bound to several names.

    Example: `%1 = model.call @mlp "mlp" (%0) [hidden, 4 * hidden]`, `%k, %v = model.call @keys "kv" (%0)`,
    `%2 = model.call @encoder "encoder" (%1) [hidden, @mlp]`

    With `averages "other" momentum(%m)` nothing in here is trained. What would be a trained parameter is `state`, and a
    moving average of the one of the same name in the scope `other`, which stands in full: that of `other.a.weight` is
    `a.weight` in here. At the beginning of each step the average becomes `m average + (1 - m) parameter`, of the parameter
    before the step's update, and that is what the layer reads. No gradient flows to the parameter. An average begins with
    the initial values of its parameter; where `--init` gives that others, a momentum of 0 in the first step makes them
    equal (`models/averages.mlir` has such). What is `state` in the layer itself, such as running statistics, stays what it
    is. Results that nobody reads are not computed: the averages are kept all the same.

    Example: `%k = model.call @encoder "momentum_encoder" (%x) [hidden] averages "base_encoder" momentum(%m)`

    **Constraints**, checked by `elaborate`, when every import is there:
    - the layer exists and does not call itself
    - as many values, parameters and results as the layer has
    - a call that averages has a scope, does not stand in another one, and what it averages stands before it
    - `momentum` is a float32 tensor of one element
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, OptionalAttr<StrAttr>:$scope, Variadic<Weft_AnyType>:$operands,
                       Model_Parameters:$parameters, OptionalAttr<StrAttr>:$averages);
  let results = (outs Variadic<Weft_AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What the layer takes: the operands without the momentum, which comes last.
    ::mlir::OperandRange getInputs() { return getOperands().drop_back(getAverages() ? 1 : 0); }
    /// Null without `averages`.
    ::mlir::Value getMomentum() { return getAverages() ? getOperands().back() : ::mlir::Value(); }
  }];
}

def Model_RepeatOp : Model_Op<"repeat"> {
  let summary = "Puts a layer here several times, one after the other";
  let description = [{
    The results of each take the place of the first operands of the next; operands beyond
    them are the same every time. The scopes are "h.0", "h.1", and so on. Repeated 0 times, the first
    operands are the results. In its parameters `index` is 0 the first time, then 1, and so on.

    Example: `%h = model.repeat layers "h" @block(%x) [hidden]`,
    `%h = model.repeat layers "h" @block(%x) [if(index mod 2, window, 0)]`

    **Constraints**, beside those of `model.call`:
    - the count is 0 or more
    - no more results than operands
  }];
  let arguments = (ins Weft_Number:$count, StrAttr:$scope, FlatSymbolRefAttr:$callee,
                       Variadic<Weft_AnyType>:$operands, Model_Parameters:$parameters);
  let results = (outs Variadic<Weft_AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Model_StageOp : Model_Op<"stage"> {
  let summary = "Begins a stage of a pipeline";
  let description = [{
    What follows in the graph belongs to stage 1, behind the next `model.stage` to stage 2, and so on; what is before the
    first belongs to stage 0. Where a job asks for several chunks a stage, it is chunks that begin here. A
    parameter lies where its first reader is, wherever it stands.

    It counts where `dist.pipeline` of the job asks for stages: there are then as many as the file says. With one stage it
    does nothing, and `pipeline.cuts` of a job takes its place. Inside a `model.repeat` only a job can cut.

    Example:
    ```mlir
    %1 = model.call @block "front" (%0)
    model.stage 1
    %2 = model.call @block "back" (%1)
    ```

    **Constraints:**
    - it stands in a `model.graph`
    - numbers go up from 1 by 1, checked by `elaborate`
    - it is not inside a layer, such as between `h.3.attn` and `h.3.mlp`, checked when a job asks for stages
  }];
  let arguments = (ins Weft_Number:$number);
  let assemblyFormat = "custom<Number>($number) attr-dict";
  let hasVerifier = 1;
}

def Model_GraphOp : Model_Op<"graph", [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator,
                                       DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "What a job compiles";
  let description = [{
    The inputs have names, shapes and element types: f32, bf16, f16, f64, i32, i64 or u8. What a run trains on fills each
    by its name; the first dimension of each is then `batch`. With `weft.minimize` the graph is
    trained, without it is a function whose results are its `weft.output`s.

    Example:
    ```mlir
    model.graph @train(%tokens [batch, seq] i32, %labels [batch, seq] i32) {
      ...
      weft.minimize %loss per %count
    }
    ```

    **Constraints:** one name, shape and element type an input; names are distinct.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$inputs, ArrayAttr:$shapes, TypeArrayAttr:$types);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif
