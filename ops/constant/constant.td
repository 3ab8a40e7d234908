// Tensors of numbers that are known when a job is compiled.
#ifndef WEFT_OPS_CONSTANT
#define WEFT_OPS_CONSTANT

include "ops/dialect/base.td"

class Weft_KnownOp<string opMnemonic> : Weft_DifferentiableOp<opMnemonic> {
  let results = (outs Weft_Tensor:$result);
  let extraClassDeclaration = [{
    bool isConstant() { return true; }
  }];
}

def Weft_FillOp : Weft_KnownOp<"fill"> {
  let summary = "One number everywhere";
  let description = [{
    A tensor of float32, or of the element type behind `to`. One of more than one element is made once a step and not
    for every micro-batch.

    Example: `%zeros = weft.fill [16, 8] value(0)`, `%ones = weft.fill [16] value(1) to i32`

    **Constraints:**
    - extents are positive
    - the element type is f32, bf16, f16, i32, i64 or i8
    - the number of an integer type is an integer that it holds; i8 holds 0 to 255
  }];
  let arguments = (ins Weft_Integers:$shape, Weft_Number:$value, OptionalAttr<TypeAttr>:$result_type);
  let assemblyFormat = [{
    custom<Numbers>($shape) `value` `(` custom<Number>($value) `)` (`to` $result_type^)? attr-dict
    `` custom<Types0>(type($result))
  }];
}

def Weft_IotaOp : Weft_KnownOp<"iota"> {
  let summary = "The index along one dimension";
  let description = [{
    An element is its place along `dim`, from 0: an i32, or of the element type behind `to`. It is made once a step.
    Where dimension 0 is the batch, it counts within a micro-batch.

    Example: `%places = weft.iota [batch, seq] dim(1)`, `%x = weft.iota [seq] dim(0) to f32`

    **Constraints:**
    - extents are positive
    - `dim` is a dimension of the result
    - the element type is i32, i64 or f32, and has every number up to the extent of `dim`
  }];
  let arguments = (ins Weft_Integers:$shape, Weft_Integer:$dim, OptionalAttr<TypeAttr>:$result_type);
  let assemblyFormat = [{
    custom<Numbers>($shape) `dim` `(` custom<Number>($dim) `)` (`to` $result_type^)? attr-dict
    `` custom<Types0>(type($result))
  }];
}

def Weft_ConstantOp : Weft_KnownOp<"constant"> {
  let summary = "Numbers that are listed";
  let description = [{
    A tensor of the numbers in row-major order: of float32, or of the element type behind `to`. One number everywhere
    is `weft.fill`.

    Example: `%mean = weft.constant [3] values [0.485, 0.456, 0.406]`

    **Constraints:**
    - extents are positive
    - there are as many values as elements
    - the element type is f32, bf16, f16, i32, i64 or i8
    - the numbers of an integer type are integers that it holds; i8 holds 0 to 255
  }];
  let arguments = (ins Weft_Integers:$shape, Weft_Numbers:$values, OptionalAttr<TypeAttr>:$result_type);
  let assemblyFormat = [{
    custom<Numbers>($shape) `values` custom<Numbers>($values) (`to` $result_type^)? attr-dict
    `` custom<Types0>(type($result))
  }];
  let extraClassDeclaration = [{
    bool isConstant() { return true; }
    void getKernelAttributes(::mlir::NamedAttrList &attributes);
  }];
}

#endif
