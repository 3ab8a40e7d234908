// Activation functions and their gradients.
#ifndef WEFT_OPS_ACTIVATION
#define WEFT_OPS_ACTIVATION

include "ops/dialect/base.td"

class Weft_ActivationOp<string opMnemonic, string formula> : Weft_DifferentiableOp<opMnemonic> {
  let summary = formula # ", element by element";
  let description = "Computes " # formula # [{ of every element.

    Example: `%y = weft.}] # opMnemonic # [{ %x`

    **Constraints:** the element type is floating point.
  }];
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `` custom<Types1>(type($input), type($result))";
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

def Weft_ReluOp : Weft_ActivationOp<"relu", "max(x, 0)">;
def Weft_SiluOp : Weft_ActivationOp<"silu", "x / (1 + e^-x)">;

def Weft_GeluOp : Weft_DifferentiableOp<"gelu"> {
  let summary = "x times the normal distribution's P(X <= x), element by element";
  let description = [{
    Exactly, `x (1 + erf(x / sqrt(2))) / 2`, or with `approximate(tanh)`
    `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`.

    Example: `%y = weft.gelu %x approximate(tanh)`

    **Constraints:**
    - the element type is floating point
    - `approximate` is `none` or `tanh`
  }];
  let arguments = (ins Weft_Tensor:$input, DefaultValuedAttr<StrAttr, "\"none\"">:$approximate);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input (`approximate` `(` custom<Word>($approximate)^ `)`)? attr-dict `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

class Weft_ActivationGradOp<string opMnemonic> : Weft_PureOp<opMnemonic # "_grad"> {
  let summary = "Gradient of `weft." # opMnemonic # "`";
  let description = [{
    The gradient of the operand, from the gradient `dy` of the result and the operand `x`.

    Example: `%dx = weft.}] # opMnemonic # [{_grad %dy, %x`

    **Constraints:**
    - the element type is floating point
    - `x` has the type of `dy`
  }];
  let arguments = (ins Weft_Tensor:$dy, Weft_Tensor:$x);
  let results = (outs Weft_Tensor:$dx);
  let assemblyFormat = "$dy `,` $x attr-dict `` custom<Types2>(type($dy), type($x), type($dx))";
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

def Weft_ReluGradOp : Weft_ActivationGradOp<"relu">;
def Weft_SiluGradOp : Weft_ActivationGradOp<"silu">;

def Weft_GeluGradOp : Weft_PureOp<"gelu_grad"> {
  let summary = "Gradient of `weft.gelu`";
  let description = [{
    The gradient of the operand, from the gradient `dy` of the result and the operand `x`.

    Example: `%dx = weft.gelu_grad %dy, %x approximate(tanh)`

    **Constraints:**
    - the element type is floating point
    - `x` has the type of `dy`
    - `approximate` is `none` or `tanh`
  }];
  let arguments = (ins Weft_Tensor:$dy, Weft_Tensor:$x, DefaultValuedAttr<StrAttr, "\"none\"">:$approximate);
  let results = (outs Weft_Tensor:$dx);
  let assemblyFormat = [{
    $dy `,` $x (`approximate` `(` custom<Word>($approximate)^ `)`)? attr-dict
    `` custom<Types2>(type($dy), type($x), type($dx))
  }];
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

#endif
