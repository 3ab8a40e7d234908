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

defvar sumPrecision = [{
  ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same->same").asSum(); }
}];

class Weft_BinaryOp<string opMnemonic, string formula, string precision = Weft_anyPrecision>
    : Weft_DifferentiableOp<opMnemonic> {
  let summary = formula # ", element by element, with broadcasting";
  let description = "Computes " # formula # [{. Shapes are aligned at the last dimension; a
    missing dimension, or one of size 1, is repeated.

    Example: `%y = weft.}] # opMnemonic # [{ %a, %b`

    **Constraints:**
    - both operands have one floating-point element type
    - aligned extents are equal, or one of them is 1
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `` custom<Types2>(type($lhs), type($rhs), type($result))";
  let extraClassDeclaration = !strconcat(Weft_overwritesOperand, precision);
}

def Weft_AddOp : Weft_BinaryOp<"add", "a + b", sumPrecision>;
def Weft_SubOp : Weft_BinaryOp<"sub", "a - b">;
def Weft_MulOp : Weft_BinaryOp<"mul", "a b">;
def Weft_DivOp : Weft_BinaryOp<"div", "a / b">;
def Weft_MaximumOp : Weft_BinaryOp<"maximum", "max(a, b)">;
def Weft_MinimumOp : Weft_BinaryOp<"minimum", "min(a, b)">;
def Weft_GreaterEqualOp : Weft_BinaryOp<"greater_equal", "1 if a >= b, else 0">;
def Weft_EqualOp : Weft_BinaryOp<"equal", "1 if a = b, else 0">;

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
    Rounds to nearest even where the new type has less precision. A cast to the operand's type folds to the operand;
    one back from a type that has all numbers of the first folds to what was cast.

    Example: `%y = weft.cast %x to bf16`

    **Constraints:** both element types are floating point.
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
