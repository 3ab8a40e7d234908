// Softmax and its gradient.
#ifndef WEFT_OPS_SOFTMAX
#define WEFT_OPS_SOFTMAX

include "ops/dialect/base.td"

def Weft_SoftmaxOp : Weft_DifferentiableOp<"softmax"> {
  let summary = "e^x over the sum of e^x along the last dimension";
  let description = [{
    Computed from `x` minus its maximum along the last dimension, which is never split.

    Example: `%y = weft.softmax %x`

    **Constraints:**
    - the element type is floating point
    - the operand has one or more dimensions
  }];
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `` custom<Types1>(type($input), type($result))";
}

def Weft_SoftmaxGradOp : Weft_PureOp<"softmax_grad"> {
  let summary = "Gradient of `weft.softmax`";
  let description = [{
    `dx = y (dy - sum(y dy))`, the sum along the last dimension, from the gradient `dy` of the result
    and the result `y`.

    Example: `%dx = weft.softmax_grad %dy, %y`

    **Constraints:**
    - the element type is floating point
    - the operands have one or more dimensions
    - `y` has the type of `dy`
  }];
  let arguments = (ins Weft_Tensor:$dy, Weft_Tensor:$y);
  let results = (outs Weft_Tensor:$dx);
  let assemblyFormat = "$dy `,` $y attr-dict `` custom<Types2>(type($dy), type($y), type($dx))";
}

#endif
