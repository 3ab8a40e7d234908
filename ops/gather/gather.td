// Rows of a tensor by their numbers: taken, and put back.
#ifndef WEFT_OPS_GATHER
#define WEFT_OPS_GATHER

include "ops/dialect/base.td"

defvar gatherCost = [{
  ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                           ::llvm::ArrayRef<::mlir::RankedTensorType> results);
}];

def Weft_TakeOp : Weft_DifferentiableOp<"take"> {
  let summary = "Rows along one dimension, chosen by number";
  let description = [{
    Dimension `dim` of the operand, of v rows, is replaced by those of the ids: from `x[outer..., v, inner...]` and
    `ids[positions...]` comes `y[outer..., positions..., inner...]`, where `y[o, p, i] = x[o, ids[p], i]`. With
    `batch(k)` the first k dimensions of both are the same, and each of their elements has ids of its own:
    `y[b, o, p, i] = x[b, o, ids[b, p], i]`. So `batch(1)` takes rows of every sequence by numbers within it, and ids of
    the rank of `x`, with `dim` the last and `batch` all others, choose single elements.

    Dimension `dim` may be split: a rank then yields zeros for the rows that are not its own, and the result is a pending
    sum. An id outside 0 to v - 1 ends the run. The gradient is `weft.scatter_add`.

    With `last`, a position yields zeros where a later position of its batch has the same id: the rows that
    `weft.scatter_set` keeps, whose gradient this is. The dimensions of the positions are then whole.

    Examples: `%y = weft.take %x, %ids dim(0)`, `%y = weft.take %x, %slots dim(1) batch(1)`

    **Constraints:**
    - ids are i32 or i64
    - the element type is floating point, i32 or i64
    - `dim` is a dimension of the operand
    - `batch` is at most `dim` and the number of dimensions of the ids
    - both have the same first `batch` extents
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$ids, Weft_Integer:$dim, OptionalAttr<Weft_Integer>:$batch,
                       UnitAttr:$last);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $ids `dim` `(` custom<Number>($dim) `)` (`batch` `(` custom<Number>($batch)^ `)`)? (`last` $last^)?
    attr-dict `` custom<Types2>(type($input), type($ids), type($result))
  }];
  let extraClassDeclaration = !strconcat(gatherCost, Weft_anyPrecision);
}

def Weft_ScatterAddOp : Weft_DifferentiableOp<"scatter_add"> {
  let summary = "Sums of rows by their numbers";
  let description = [{
    The gradient of `weft.take`: from `updates[outer..., positions..., inner...]` and `ids[positions...]` comes
    `y[outer..., size, inner...]`, where `y[o, r, i]` is the sum of `updates[o, p, i]` over the positions p whose id is r,
    and 0 where there is none. An id that comes several times adds as often, in the order of the positions; sums of
    floating-point numbers are taken in double precision, integers that grow too large wrap around. `batch` is that of
    `weft.take`.

    A rank may yield some of the rows only; ids that are not its own are left out. The positions may be split: the result
    is then a pending sum. An id outside 0 to size - 1 ends the run. The gradient is `weft.take`.

    Example: `%sums = weft.scatter_add %updates, %ids dim(0) size(16)`

    **Constraints:**
    - ids are i32 or i64
    - the element type is floating point, i32 or i64
    - `batch` is at most `dim` and the number of dimensions of the ids
    - the updates have, from dimension `dim` on, the extents of the ids behind the batch, and the same first `batch`
      extents
    - `size` is positive
  }];
  let arguments = (ins Weft_Tensor:$updates, Weft_Tensor:$ids, Weft_Integer:$dim, Weft_Integer:$size,
                       OptionalAttr<Weft_Integer>:$batch);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $updates `,` $ids `dim` `(` custom<Number>($dim) `)` `size` `(` custom<Number>($size) `)`
    (`batch` `(` custom<Number>($batch)^ `)`)? attr-dict
    `` custom<Types2>(type($updates), type($ids), type($result))
  }];
  let extraClassDeclaration = !strconcat(gatherCost, Weft_anyPrecision, [{
    void setResultShape(::llvm::ArrayRef<int64_t> shape);
    void getKernelAttributes(::mlir::NamedAttrList &attributes);
  }]);
}

def Weft_ScatterSetOp : Weft_DifferentiableOp<"scatter_set"> {
  let summary = "A tensor with some rows replaced";
  let description = [{
    From `x[outer..., v, inner...]`, `ids[positions...]` and `updates[outer..., positions..., inner...]` comes `x` with row
    `ids[p]` replaced by `updates[p]`. Where an id comes several times, the last position counts. `dim` and `batch` are
    those of `weft.take`; a rank may have some of the rows only, the positions are whole. An id outside 0 to v - 1 ends
    the run.

    The gradient of `x` is that of the result with zeros in the rows that were replaced; the gradient of the updates is
    the rows that they became (`weft.take` with `last`).

    Example: `%y = weft.scatter_set %x, %ids, %updates dim(1) batch(1)`

    **Constraints:**
    - ids are i32 or i64
    - the element type is floating point, i32 or i64
    - `dim` is a dimension of the operand
    - `batch` is at most `dim` and the number of dimensions of the ids
    - `x` and ids have the same first `batch` extents
    - the updates have the type of `weft.take %x, %ids`
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$ids, Weft_Tensor:$updates, Weft_Integer:$dim,
                       OptionalAttr<Weft_Integer>:$batch);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $ids `,` $updates `dim` `(` custom<Number>($dim) `)` (`batch` `(` custom<Number>($batch)^ `)`)? attr-dict
    `` custom<Types3>(type($input), type($ids), type($updates), type($result))
  }];
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

#endif
