// Ops that treat every element alone.
#ifndef WEFT_OPS_ELEMENTWISE
#define WEFT_OPS_ELEMENTWISE

include "ops/dialect/base.td"

// `precision`: what it says of its width; nothing keeps it float32.
class Weft_UnaryOp<string opMnemonic, string formula, string precision = ""> : Weft_DifferentiableOp<opMnemonic> {
  let summary = formula # ", element by element";
  let description = "Computes " # formula # [{ of every element.

    Example: `%y = weft.}] # opMnemonic # [{ %x`

    **Constraints:** the element type is floating point.
  }];
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `` custom<Types1>(type($input), type($result))";
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, precision);
}

def Weft_NegOp : Weft_UnaryOp<"neg", "-x", Weft_anyPrecision>;
def Weft_ExpOp : Weft_UnaryOp<"exp", "e^x">;
def Weft_LogOp : Weft_UnaryOp<"log", "the natural logarithm">;
def Weft_SqrtOp : Weft_UnaryOp<"sqrt", "the square root">;
def Weft_RsqrtOp : Weft_UnaryOp<"rsqrt", "1 / sqrt(x)">;
def Weft_TanhOp : Weft_UnaryOp<"tanh", "tanh(x)", Weft_anyPrecision>;
def Weft_SigmoidOp : Weft_UnaryOp<"sigmoid", "1 / (1 + e^-x)", Weft_anyPrecision>;
def Weft_SquareOp : Weft_UnaryOp<"square", "x^2">;
def Weft_AbsOp : Weft_UnaryOp<"abs", "|x|", Weft_anyPrecision>;
def Weft_SignOp : Weft_UnaryOp<"sign", "the sign of x (1, 0 or -1)", Weft_anyPrecision>;
def Weft_SinOp : Weft_UnaryOp<"sin", "the sine of x radians">;
def Weft_CosOp : Weft_UnaryOp<"cos", "the cosine of x radians">;

defvar sumPrecision = [{
  ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same->same").asSum(); }
}];

defvar floatOrInteger = "both operands have one element type, which is floating point, i32 or i64";

class Weft_BinaryOp<string opMnemonic, string formula, string types = floatOrInteger,
                    string precision = Weft_anyPrecision> : Weft_DifferentiableOp<opMnemonic> {
  let summary = formula # ", element by element, with broadcasting";
  let description = "Computes " # formula # [{. Shapes are aligned at the last dimension; a
    missing dimension, or one of size 1, is repeated. Integers that grow too large wrap around.

    Example: `%y = weft.}] # opMnemonic # [{ %a, %b`

    **Constraints:**
    - }] # types # [{
    - aligned extents are equal, or one of them is 1
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `` custom<Types2>(type($lhs), type($rhs), type($result))";
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, precision);
}

def Weft_AddOp : Weft_BinaryOp<"add", "a + b", floatOrInteger, sumPrecision>;
def Weft_SubOp : Weft_BinaryOp<"sub", "a - b">;
def Weft_MulOp : Weft_BinaryOp<"mul", "a b">;
def Weft_DivOp : Weft_BinaryOp<"div", "a / b", "both operands have one floating-point element type">;
def Weft_MaximumOp : Weft_BinaryOp<"maximum", "max(a, b)">;
def Weft_MinimumOp : Weft_BinaryOp<"minimum", "min(a, b)">;

def Weft_ScaleOp : Weft_DifferentiableOp<"scale"> {
  let summary = "Multiplies by a constant";
  let description = [{
    Example: `%y = weft.scale %x by(0.125)`

    **Constraints:** the element type is floating point.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Number:$factor);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `by` `(` custom<Number>($factor) `)` attr-dict `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

def Weft_AddScalarOp : Weft_DifferentiableOp<"add_scalar"> {
  let summary = "Adds a constant";
  let description = [{
    Example: `%y = weft.add_scalar %x by(1.0e-5)`

    **Constraints:** the element type is floating point.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Number:$addend);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `by` `(` custom<Number>($addend) `)` attr-dict `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

def Weft_PowerOp : Weft_DifferentiableOp<"power"> {
  let summary = "Raises to a constant power";
  let description = [{
    Every element to the power `exponent`; 1 where that is 0. An element below 0 has a power only if the exponent is a
    whole number, and gives NaN otherwise.

    Example: `%y = weft.power %x by(1.5)`

    **Constraints:** the element type is floating point.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Number:$exponent);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `by` `(` custom<Number>($exponent) `)` attr-dict `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = Weft_overwritesOperand;
}

def Weft_ClampOp : Weft_DifferentiableOp<"clamp"> {
  let summary = "Raises what is below a minimum and lowers what is above a maximum";
  let description = [{
    An element below `min` becomes `min`, one above `max` becomes `max`, and NaN stays NaN. Either may be left out. The
    gradient passes where the element was in between, both ends included.

    Example: `%y = weft.clamp %x min(-1.0) max(1.0)`, `%z = weft.clamp %x min(0)`

    **Constraints:**
    - the element type is floating point
    - `min`, `max` or both are given
    - `min` is at most `max`
  }];
  let arguments = (ins Weft_Tensor:$input, OptionalAttr<Weft_Number>:$min, OptionalAttr<Weft_Number>:$max);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input (`min` `(` custom<Number>($min)^ `)`)? (`max` `(` custom<Number>($max)^ `)`)? attr-dict
    `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, Weft_anyPrecision);
}

def Weft_StopGradientOp : Weft_DifferentiableOp<"stop_gradient", [DeclareOpInterfaceMethods<Weft_DecomposableOpInterface>]> {
  let summary = "The operand, to which no gradient flows back";
  let description = [{
    What the operand depends on is a constant to the gradient. The op is gone once gradients are built.

    Example: `%target = weft.stop_gradient %x`
  }];
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `` custom<Types1>(type($input), type($result))";
  let extraClassDeclaration = Weft_anyPrecision;
}

def Weft_AddNOp : Weft_DifferentiableOp<"add_n"> {
  let summary = "Sum of tensors of one shape";
  let description = [{
    Example: `%s = weft.add_n %a, %b, %c`

    **Constraints:** one or more operands, all of one floating-point type.
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $inputs attr-dict `` custom<VariadicTypes>(ref($inputs), type($inputs), type($result))
  }];
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, sumPrecision);
}

def Weft_CastOp : Weft_DifferentiableOp<"cast"> {
  let summary = "Changes the element type";
  let description = [{
    To a floating-point type it rounds to nearest even; i64 to bf16 or f16 is rounded to f32 first. From a
    floating-point type to an integer it cuts off what is behind the point; what is too small or too large becomes the
    smallest or largest integer, and NaN becomes 0. Between integer types it keeps the lowest bits. i8 holds 0 to 255.
    A cast to the operand's type folds to the operand; one back from a type that has all numbers of the first folds to
    what was cast. No gradient passes through integers.

    Example: `%y = weft.cast %x to bf16`, `%z = weft.cast %ids to f32`

    **Constraints:** both element types are floating point, i32, i64 or i8.
  }];
  let arguments = (ins Weft_Tensor:$input, TypeAttr:$to);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input `to` $to attr-dict `` custom<Types1>(type($input), type($result))";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("any->wide"); }
  }];
}

def Weft_BroadcastToOp : Weft_DifferentiableOp<"broadcast_to"> {
  let summary = "Repeats a tensor over missing dimensions and those of size 1";
  let description = [{
    Example: `%y = weft.broadcast_to %x [batch, seq, hidden]`

    **Constraints:** aligned at the last dimension, an extent is the result's or 1.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integers:$shape);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input custom<Numbers>($shape) attr-dict `` custom<Types1>(type($input), type($result))";
  let extraClassDeclaration = Weft_anyPrecision;
}

#endif
