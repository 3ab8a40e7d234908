// Elements in the order of their values.
#ifndef WEFT_OPS_SORT
#define WEFT_OPS_SORT

include "ops/dialect/base.td"

defvar sortDeclarations = !strconcat(Weft_anyPrecision, [{
  ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                           ::llvm::ArrayRef<::mlir::RankedTensorType> results);
}]);

def Weft_SortOp : Weft_DifferentiableOp<"sort"> {
  let summary = "Elements along one dimension in ascending order, and where they stood";
  let description = [{
    Sorts every line along `dim`, which is never split. `ids`, i32, says where an element stood: `values[i] = x[ids[i]]`.
    Equal elements stay in their order, with `descending` too. NaN is above every number; -0 equals 0. To sort something
    else by these keys, `weft.take` it by the ids.

    Examples: `%values, %ids = weft.sort %x dim(1)`, `%values, %ids = weft.sort %keys dim(0) descending`

    **Constraints:**
    - `dim` is a dimension of the operand
    - the element type is floating point or i32
    - the dimension has at most 2^31 - 1 elements
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integer:$dim, UnitAttr:$descending);
  let results = (outs Weft_Tensor:$values, Weft_Tensor:$ids);
  let assemblyFormat = [{
    $input `dim` `(` custom<Number>($dim) `)` (`descending` $descending^)? attr-dict
    `` custom<Types1>(type($input), type($values), type($ids))
  }];
  let extraClassDeclaration = sortDeclarations;
}

def Weft_TopKOp : Weft_DifferentiableOp<"top_k"> {
  let summary = "The largest elements along one dimension, and where they stand";
  let description = [{
    The first `k` elements of `weft.sort` with `descending`: the largest first, of equal ones the first. `ids`, i32, says
    where they stand. `dim` is never split.

    Example: `%gates, %experts = weft.top_k %probabilities k(2) dim(2)`

    **Constraints:**
    - `dim` is a dimension of the operand
    - the element type is floating point or i32
    - the dimension has at most 2^31 - 1 elements
    - `k` is at least 1 and at most the extent of the dimension
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integer:$k, Weft_Integer:$dim);
  let results = (outs Weft_Tensor:$values, Weft_Tensor:$ids);
  let assemblyFormat = [{
    $input `k` `(` custom<Number>($k) `)` `dim` `(` custom<Number>($dim) `)` attr-dict
    `` custom<Types1>(type($input), type($values), type($ids))
  }];
  let extraClassDeclaration = sortDeclarations;
}

#endif
