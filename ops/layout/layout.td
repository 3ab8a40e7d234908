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

def Weft_CastPartsOp : Op<Weft_Dialect, "cast_parts", [Pure]> {
  let summary = "What each rank has, in another element type";
  let description = [{
    As `weft.cast`, but of a pending sum each rank's part is rounded, as a product rounds it that makes the sum in this
    type. Layouts are known: it is there behind `box` only.

    Example: `%1 = weft.cast_parts %0 : (tensor<8x4xf32, #weft.sbp<P>>) -> tensor<8x4xbf16, #weft.sbp<P>>`

    **Constraints:** operand and result have one shape and SBP.
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `` custom<Types1>(type($input), type($result))";
  let hasVerifier = 1;
}

def Weft_TakeRowsOp : Op<Weft_Dialect, "take_rows", [Pure]> {
  let summary = "Some of the rows that each rank has";
  let description = [{
    The first `rows` dimensions of a rank's tile are one list of rows. The result is `size` of them, those from `offset`
    on, of every rank: its dimensions are 1 but for the last of these, which axes of the mesh split that split any of
    them. Layouts are known: it is there behind `box` only.

    Example: `%1 = weft.take_rows %0 rows(2) from(96) size(32)
      : (tensor<8x64x16xf32, #weft.sbp<S(0)>>) -> tensor<1x64x16xf32, #weft.sbp<S(1)>>` on two ranks

    **Constraints:**
    - `rows` is 1 or more, and at most the rank of the operand
    - the rows are there
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$rows, I64Attr:$offset, I64Attr:$size);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `rows` `(` $rows `)` `from` `(` $offset `)` `size` `(` $size `)` attr-dict
    `` custom<Types1>(type($input), type($result))
  }];
  let hasVerifier = 1;
}

def Weft_JoinRowsOp : Op<Weft_Dialect, "join_rows", [Pure]> {
  let summary = "A tensor from parts of the rows that each rank has";
  let description = [{
    The reverse of `weft.take_rows`: the parts one after the other are a rank's tile of the result.

    Example: `%2 = weft.join_rows %0, %1 rows(2) : (!half, !half) -> tensor<8x64x16xf32, #weft.sbp<S(0)>>`

    **Constraints:**
    - one operand or more
    - `rows` is 1 or more, and at most the rank of the result
    - the operands are parts of the result, which they make up
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts, I64Attr:$rows);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $parts `rows` `(` $rows `)` attr-dict `` custom<VariadicTypes>(ref($parts), type($parts), type($result))
  }];
  let hasVerifier = 1;
}

#endif
