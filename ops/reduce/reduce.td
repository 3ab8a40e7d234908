// Reductions over dimensions.
#ifndef WEFT_OPS_REDUCE
#define WEFT_OPS_REDUCE

include "ops/dialect/base.td"

def Weft_ReduceOp : Weft_DifferentiableOp<"reduce"> {
  let summary = "Sum, mean or maximum over some dimensions";
  let description = [{
    The mean divides by the extent of the whole (global) dimensions. The gradient of a maximum is shared
    equally among the elements that reach it. The result has the operand's element type, or float32 with `to f32`; sums
    are taken in double precision either way.

    Example: `%y = weft.reduce sum %x over [0, 1]`, `%z = weft.reduce max %x over [2] keep_dims`

    **Constraints:**
    - `kind` is `sum`, `mean` or `max`
    - dimensions are distinct and lie in the operand
    - the element type is floating point
    - the result type, if given, is float32
  }];
  let arguments = (ins StrAttr:$kind, Weft_Tensor:$input, Weft_Integers:$dims, UnitAttr:$keep_dims,
                       OptionalAttr<TypeAttr>:$result_type);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    custom<Word>($kind) $input `over` custom<Numbers>($dims) (`keep_dims` $keep_dims^)? (`to` $result_type^)?
    attr-dict
    `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("any->any"); }
  }];
}

#endif
