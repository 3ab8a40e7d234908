// Ops that move elements and compute nothing.
#ifndef WEFT_OPS_LAYOUT
#define WEFT_OPS_LAYOUT

include "ops/dialect/base.td"

def Weft_ReshapeOp : Weft_DifferentiableOp<"reshape"> {
  let summary = "The same elements in row-major order, in another shape";
  let description = [{
    Dimensions that are merged or cut apart stay splittable along the outermost one: in
    `[batch, seq, heads * size]` to `[batch, seq, heads, size]` a split of the last dimension is a split of
    the heads. Where the shapes do not nest, as in `[6, 4]` to `[8, 3]`, the dimensions concerned are whole.

    Example: `%y = weft.reshape %x [batch, seq, heads, hidden floordiv heads]`

    **Constraints:**
    - extents are positive
    - the shape has as many elements as the operand
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integers:$shape);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input custom<Numbers>($shape) attr-dict `` custom<Types1>(type($input), type($result))";
  let extraClassDeclaration = Weft_anyPrecision;
}

def Weft_TransposeOp : Weft_DifferentiableOp<"transpose"> {
  let summary = "Permutes dimensions";
  let description = [{
    Dimension `i` of the result is dimension `perm[i]` of the operand.

    Example: `%y = weft.transpose %x [0, 2, 1]`

    **Constraints:** `perm` has every dimension of the operand once.
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integers:$perm);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$input custom<Numbers>($perm) attr-dict `` custom<Types1>(type($input), type($result))";
  let extraClassDeclaration = Weft_anyPrecision;
}

def Weft_SliceOp : Weft_DifferentiableOp<"slice"> {
  let summary = "A contiguous part of one dimension";
  let description = [{
    The elements `offset` to `offset + size - 1` of dimension `dim`, which stays, and is never split.

    Example: `%k = weft.slice %qkv dim(2) from(1) size(1)`

    **Constraints:**
    - `dim` is a dimension of the operand
    - `size` is positive
    - the part lies in the dimension
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integer:$dim, Weft_Integer:$offset, Weft_Integer:$size);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `dim` `(` custom<Number>($dim) `)` `from` `(` custom<Number>($offset) `)` `size` `(` custom<Number>($size) `)`
    attr-dict `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = Weft_anyPrecision;
  let hasFolder = 1;
}

def Weft_PadOp : Weft_DifferentiableOp<"pad"> {
  let summary = "Zeros before and after one dimension";
  let description = [{
    The gradient of a slice. The dimension is never split.

    Example: `%y = weft.pad %x dim(2) before(1) after(1)`

    **Constraints:**
    - `dim` is a dimension of the operand
    - `before` and `after` are 0 or more
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integer:$dim, Weft_Integer:$before, Weft_Integer:$after);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `dim` `(` custom<Number>($dim) `)` `before` `(` custom<Number>($before) `)` `after` `(` custom<Number>($after) `)`
    attr-dict `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = Weft_anyPrecision;
}

def Weft_ConcatOp : Weft_DifferentiableOp<"concat"> {
  let summary = "Tensors one after the other along one dimension";
  let description = [{
    The dimension is never split.

    Example: `%y = weft.concat %a, %b dim(1)`

    **Constraints:**
    - one or more operands, of one element type and rank
    - `dim` is a dimension of them
    - all other extents are equal
  }];
  let arguments = (ins Variadic<Weft_Tensor>:$inputs, Weft_Integer:$dim);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $inputs `dim` `(` custom<Number>($dim) `)` attr-dict
    `` custom<VariadicTypes>(ref($inputs), type($inputs), type($result))
  }];
  let extraClassDeclaration = Weft_anyPrecision;
}

#endif
