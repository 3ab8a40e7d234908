// The `cell` dialect: what a generated kernel computes at one place.
#ifndef WEFT_OPS_CELL
#define WEFT_OPS_CELL

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cell_Dialect : Dialect {
  let name = "cell";
  let cppNamespace = "::weft::cell";
  let summary = "Kernels that are generated: the computation at one place, written once";
  let description = [{
    A `cell.kernel` says what is computed at one place of a domain, in scalars of the dialects `arith` and `math`, and how
    each tensor is walked as the domain is. It says nothing of vectors, threads or devices: those come with
    the code that is made of it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

class Cell_Op<string opMnemonic, list<Trait> traits = []> : Op<Cell_Dialect, opMnemonic, traits>;

def Cell_KernelOp : Cell_Op<"kernel", [IsolatedFromAbove, Symbol, SingleBlock]> {
  let summary = "What is computed at each place of a domain";
  let description = [{
    The block's arguments are the elements of the inputs at a place, what `cell.yield` gives those of the outputs.
    `strides` has a list for every input and then every output: elements from a place to the next one along each
    dimension of the domain, 0 where the tensor repeats; `from` is where each begins, if some do so behind their first
    element. `row` is the number of places of a row, the last dimensions of
    the domain, along which `cell.reduce` goes; 1 if nothing is reduced. An output that does not change along
    a row is written once a row.

    Numbers that are stored in fewer bits are widened behind the arguments and rounded before `cell.yield`, so that two
    kernels that become one round as two did.

    Example:
    ```mlir
    cell.kernel @neg domain [4, 8] row 1 strides [[8, 1], [8, 1]] {
    ^bb0(%x: f32):
      %0 = arith.negf %x : f32
      cell.yield %0 : f32
    }
    ```

    A `batch` kernel is run for several tensors at once, of any lengths: its domain, of one place, stands for each of them,
    a stride of 1 for what is walked and one of 0 for a number that all share. Inputs of the latter kind come first.

    **Constraints:** extents are 1 or more; each list has a stride of 0 or more for every dimension; `from` has a number of
    0 or more for every list; `row` is the product of the last extents; inputs and outputs are floating-point numbers or
    integers; a `batch` kernel has the domain [1], nothing in it is reduced or drawn at random, and all of its outputs are
    walked from their first element on.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$domain, I64Attr:$row,
                       TypedArrayAttrBase<DenseI64ArrayAttr, "strides">:$strides, UnitAttr:$batch,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::ArrayRef<int64_t>":$domain, "int64_t":$row,
                             "::mlir::ArrayAttr":$strides, CArg<"bool", "false">:$batch), [{
    build($_builder, $_state, name, domain, uint64_t(row), strides, batch, ::mlir::DenseI64ArrayAttr());
  }]>];
  let assemblyFormat = [{
    $sym_name (`batch` $batch^)? `domain` $domain `row` $row `strides` $strides (`from` $offsets^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumInputs() { return getBody().getNumArguments(); }
    unsigned getNumOutputs() { return getStrides().size() - getNumInputs(); }
    /// Of an input, or of an output behind all inputs.
    ::llvm::ArrayRef<int64_t> getStridesOf(unsigned operand) {
      return ::llvm::cast<::mlir::DenseI64ArrayAttr>(getStrides()[operand]).asArrayRef();
    }
    /// Elements of such a tensor before the one of the first place.
    int64_t getOffsetOf(unsigned operand) { return getOffsets() ? (*getOffsets())[operand] : 0; }
    /// Whether two of them are at the same element at each place.
    bool areWalkedAlike(unsigned a, unsigned b) { return getStridesOf(a) == getStridesOf(b) && getOffsetOf(a) == getOffsetOf(b); }
    /// How many inputs come first that are shared, of a `batch` kernel.
    unsigned getNumShared();
    ::mlir::OperandRange getYielded() { return getBody().front().getTerminator()->getOperands(); }
  }];
}

def Cell_Number : AnyTypeOf<[AnyFloat, AnySignlessInteger]>;

def Cell_YieldOp : Cell_Op<"yield", [Terminator, HasParent<"KernelOp">]> {
  let summary = "The elements of a kernel's outputs";
  let description = "Example: `cell.yield %0, %1 : f32, bf16`";
  let arguments = (ins Variadic<Cell_Number>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Cell_ReduceOp : Cell_Op<"reduce", [Pure, SameOperandsAndResultType]> {
  let summary = "Reduces a number over the row";
  let description = [{
    The `sum` or the `max` of what the operand is at each place of the row. The order of a sum depends on the row's
    length alone: neither on threads nor on the processor.

    Example: `%0 = cell.reduce sum %x : f32`

    **Constraints:** `kind` is `sum` or `max`.
  }];
  let arguments = (ins StrAttr:$kind, F32:$value);
  let results = (outs F32:$result);
  let assemblyFormat = "custom<Kind>($kind) $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Cell_SumRowsOp : Cell_Op<"sum_rows", [Pure, SameOperandsAndResultType]> {
  let summary = "Sums a number over all rows";
  let description = [{
    The sum of what the operand is at one place of each row. It is an output, or rounded to one, which repeats over all
    dimensions but those of a row, and nothing else reads it. Rows are summed in blocks, then the blocks, in an order that
    depends on shapes alone.

    Example: `%0 = cell.sum_rows %x : f32`
  }];
  let arguments = (ins F32:$value);
  let results = (outs F32:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Cell_RandomOp : Cell_Op<"random"> {
  let summary = "32 random bits of a place";
  let description = [{
    The bits of an element of a whole tensor, of which the kernel's domain is a part: `PhiloxElement` of ops/abi/philox.h.
    `strides` are elements of the whole tensor from a place to the next one along each dimension of the domain.
    Seed, step and the first element come with each run of the kernel, in the order of a kernel's `cell.random`s.

    Example: `%0 = cell.random [768, 1]`
  }];
  let arguments = (ins DenseI64ArrayAttr:$strides);
  let results = (outs I32:$bits);
  let assemblyFormat = "$strides attr-dict";
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$strides), [{
    build($_builder, $_state, $_builder.getI32Type(), strides);
  }]>];
}

#endif
