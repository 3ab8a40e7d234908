// Comparisons, truth values, and choices by them.
#ifndef WEFT_OPS_LOGIC
#define WEFT_OPS_LOGIC

include "ops/dialect/base.td"

class Weft_ComparisonOp<string opMnemonic, string formula> : Weft_DifferentiableOp<opMnemonic> {
  let summary = "Whether " # formula # ", element by element, with broadcasting";
  let description = "Says whether " # formula # [{. Shapes are aligned at the last dimension; a missing dimension, or
    one of size 1, is repeated. The result has truth values, 1 and 0 of the element type i8; with `as_number` it has
    the operands' element type, for products with it. It has no gradient. A comparison with NaN is false, but for
    `weft.not_equal`.

    Example: `%y = weft.}] # opMnemonic # [{ %a, %b`

    **Constraints:**
    - both operands have one element type, which is floating point, i32, i64 or i8
    - aligned extents are equal, or one of them is 1
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs, UnitAttr:$as_number);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`as_number` $as_number^)? attr-dict `` custom<Types2>(type($lhs), type($rhs), type($result))
  }];
  // Numbers that differ may be equal once they are narrow, so that truth values are made of wide ones.
  let extraClassDeclaration = Weft_overwritesOperand # [{
    ::weft::ir::Precision getPrecision() {
      return getAsNumber() ? ::weft::ir::Precision::parse("same->same") : ::weft::ir::Precision();
    }
  }];
}

def Weft_GreaterOp : Weft_ComparisonOp<"greater", "a > b">;
def Weft_GreaterEqualOp : Weft_ComparisonOp<"greater_equal", "a >= b">;
def Weft_LessOp : Weft_ComparisonOp<"less", "a < b">;
def Weft_LessEqualOp : Weft_ComparisonOp<"less_equal", "a <= b">;
def Weft_EqualOp : Weft_ComparisonOp<"equal", "a = b">;
def Weft_NotEqualOp : Weft_ComparisonOp<"not_equal", "a and b differ">;

class Weft_LogicalOp<string opMnemonic, string formula> : Weft_PureOp<opMnemonic> {
  let summary = "Whether " # formula # ", element by element, with broadcasting";
  let description = "Says whether " # formula # [{. Shapes are aligned at the last dimension; a missing dimension, or
    one of size 1, is repeated.

    Example: `%y = weft.}] # opMnemonic # [{ %a, %b`

    **Constraints:**
    - both operands have truth values, of the element type i8
    - aligned extents are equal, or one of them is 1
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `` custom<Types2>(type($lhs), type($rhs), type($result))";
  let extraClassDeclaration = Weft_overwritesOperand;
}

def Weft_LogicalAndOp : Weft_LogicalOp<"logical_and", "a and b are true">;
def Weft_LogicalOrOp : Weft_LogicalOp<"logical_or", "a or b is true, or both">;

def Weft_LogicalNotOp : Weft_PureOp<"logical_not"> {
  let summary = "Whether x is false, element by element";
  let description = [{
    Example: `%y = weft.logical_not %x`

    **Constraints:** the operand has truth values, of the element type i8.
  }];
  let arguments = (ins Weft_Tensor:$input);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input attr-dict `` custom<Types1>(type($input), type($result))";
  let extraClassDeclaration = Weft_overwritesOperand;
}

def Weft_SelectOp : Weft_DifferentiableOp<"select"> {
  let summary = "a where a condition is true, else b, with broadcasting";
  let description = [{
    Shapes are aligned at the last dimension; a missing dimension, or one of size 1, is repeated. The gradient of an
    element flows to the operand that it was taken from.

    Example: `%y = weft.select %condition, %a, %b`

    **Constraints:**
    - the condition has truth values, of the element type i8
    - `a` and `b` have one element type
    - aligned extents are equal, or 1
  }];
  let arguments = (ins Weft_Tensor:$condition, Weft_Tensor:$a, Weft_Tensor:$b);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $condition `,` $a `,` $b attr-dict `` custom<Types3>(type($condition), type($a), type($b), type($result))
  }];
  let extraClassDeclaration = Weft_anyPrecision # [{
    ::llvm::SmallVector<int64_t> getInPlaceOperands();
  }];
}

#endif
