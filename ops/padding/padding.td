// What lies beyond the extents of a tensor that was made larger.
#ifndef WEFT_OPS_PADDING
#define WEFT_OPS_PADDING

include "ops/dialect/base.td"

def Weft_SetPaddingOp : Weft_PureOp<"set_padding"> {
  let summary = "One number beyond the extents";
  let description = [{
    The operand where every index is below its extent, and `value` elsewhere. The phase `pad` makes dimensions larger that
    a mesh axis does not divide, and puts this op where a sum, a maximum or a stored value must not see what lies there.

    With `batch`, a micro-batch has some of what a step has `batch` of, along dimension 0 or that of `along`: the last
    micro-batch may have less, and `value` is behind that.

    Example: `%1 = weft.set_padding %0 [8, 50257] value(0)`,
    `%1 = weft.set_padding %0 [4, 64] value(0) batch(10)`: the third micro-batch has two samples.

    **Constraints:**
    - one extent a dimension, from 1 to that of the operand
    - the element type is f32, bf16, f16, i32, i64 or i8, and has the value
    - `batch` is positive, and `along` is a dimension
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Integers:$extents, Weft_Number:$value, OptionalAttr<I64Attr>:$batch,
                       OptionalAttr<I64Attr>:$along);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input custom<Numbers>($extents) `value` `(` custom<Number>($value) `)` (`batch` `(` $batch^ `)`)?
    (`along` `(` $along^ `)`)? attr-dict
    `` custom<Types1>(type($input), type($result))
  }];
  let extraClassDeclaration = !strconcat([{
    ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                             ::llvm::ArrayRef<::mlir::RankedTensorType> results);
    bool variesByMicroBatch() { return getBatch().has_value(); }
  }], Weft_overwritesOperand, Weft_anyPrecision);
}

#endif
