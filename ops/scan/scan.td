// Sums of everything up to an element.
#ifndef WEFT_OPS_SCAN
#define WEFT_OPS_SCAN

include "ops/dialect/base.td"

def Weft_CumsumOp : Weft_DifferentiableOp<"cumsum"> {
  let summary = "Sums along one dimension of everything up to an element";
  let description = [{
    Element `i` along `dim` is the sum of the elements 0 to `i` of the operand; with `exclusive` 0 to `i - 1`, which
    begins with 0; with `reverse` from the last element down. Sums of floating-point numbers are taken in double
    precision; integers that grow too large wrap around. `dim` is never split.

    Example: `%y = weft.cumsum %x dim(1)`, `%starts = weft.cumsum %lengths dim(0) exclusive`

    **Constraints:**
    - `dim` is a dimension of the operand
    - the element type is floating point, i32 or i64
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integer:$dim, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `dim` `(` custom<Number>($dim) `)` (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict
    `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

#endif
