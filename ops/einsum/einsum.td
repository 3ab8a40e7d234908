// Contractions of two tensors.
#ifndef WEFT_OPS_EINSUM
#define WEFT_OPS_EINSUM

include "ops/dialect/base.td"

def Weft_EinsumOp : Weft_DifferentiableOp<"einsum"> {
  let summary = "Product of two tensors, summed over the letters the result lacks";
  let description = [{
    The equation names the dimensions of both operands and of the result. A letter in both
    operands and not in the result is summed over; every dimension may be split. The result has the operands'
    element type, or float32 with `to f32`; sums are taken in float32 either way.

    Example: `%y = weft.einsum "bsi,io->bso" %x, %w`, `%s = weft.einsum "bsnd,btnd->bnst" %q, %k to f32`

    **Constraints:**
    - the equation is two operands and a result, each a list of letters, none twice
    - a letter of one operand alone is in the result, and a letter of the result in an operand
    - an operand has one dimension a letter
    - a letter stands for one extent
    - both operands have one floating-point element type
    - the result type, if given, is float32
  }];
  let arguments = (ins StrAttr:$equation, Weft_Tensor:$lhs, Weft_Tensor:$rhs, OptionalAttr<TypeAttr>:$result_type);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $equation $lhs `,` $rhs (`to` $result_type^)? attr-dict `` custom<Types2>(type($lhs), type($rhs), type($result))
  }];
  let extraClassDeclaration = [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("narrow->any"); }
    /// A multiply-add for every combination of the letters, at the rate of matrix products.
    Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands, ::llvm::ArrayRef<::mlir::RankedTensorType> results);
  }];
}

#endif
