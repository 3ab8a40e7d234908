// Contractions of two tensors, and of groups of rows whose sizes are data.
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

defvar groupedDeclarations = [{
  ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("narrow->any"); }
  /// A multiply-add for every row and column: of the matrices that there are, every one has its share of the rows.
  Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands, ::llvm::ArrayRef<::mlir::RankedTensorType> results);
}];

def Weft_GroupedMatmulOp : Weft_DifferentiableOp<"grouped_matmul"> {
  let summary = "Rows sorted by group, each multiplied by the matrix of its group";
  let description = [{
    From `rows[outer..., n, k]`, `matrices[e, k, m]` and `counts[outer..., e]` comes `y[outer..., n, m]`: the first
    `counts[o, 0]` rows of `o` are multiplied by matrix 0, the next `counts[o, 1]` by matrix 1, and so on. Rows behind the
    last group become zeros. With `transposed` the matrices are `[e, m, k]`. So a mixture of experts drops no token and
    computes none in vain, however many each expert has (Gale et al., "MegaBlocks", 2022, section 4; `ragged_dot` in JAX,
    a grouped GEMM elsewhere). The result has the operands' type, or float32 with `to f32`; sums are taken in float32
    either way.

    All dimensions but `n` may be split. A rank that has some of the matrices yields zeros for the rows of the others, and
    the result is a pending sum. A count below 0, or counts of more than n rows, end the run.

    Example: `%y = weft.grouped_matmul %rows, %matrices, %counts transposed`

    **Constraints:**
    - rows have two or more dimensions, matrices three
    - rows and matrices have one floating-point element type, and one `k`
    - counts are i32, with the dimensions of the rows but the last two, and one for the groups
    - there is a matrix for each group
    - the result type, if given, is float32
  }];
  let arguments = (ins Weft_Tensor:$rows, Weft_Tensor:$matrices, Weft_Tensor:$counts, UnitAttr:$transposed,
                       OptionalAttr<TypeAttr>:$result_type);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $rows `,` $matrices `,` $counts (`transposed` $transposed^)? (`to` $result_type^)? attr-dict
    `` custom<Types3>(type($rows), type($matrices), type($counts), type($result))
  }];
  let extraClassDeclaration = groupedDeclarations;
}

def Weft_GroupedOuterOp : Weft_DifferentiableOp<"grouped_outer"> {
  let summary = "Of every group the sum of its rows' outer products";
  let description = [{
    The gradient of the matrices of `weft.grouped_matmul`: from `lhs[outer..., n, k]`, `rhs[outer..., n, m]` and
    `counts[outer..., e]` comes `y[e, k, m]`, where `y[g, i, j]` is the sum of `lhs[o, r, i] * rhs[o, r, j]` over the rows
    r of group g in every o; 0 for a group without rows. `groups` is e. Types are those of `weft.grouped_matmul`.

    All dimensions but `n` may be split; a rank may yield some of the groups only. Where the outer dimensions are split the
    result is a pending sum.

    Example: `%dmatrices = weft.grouped_outer %rows, %dy, %counts groups(8)`

    **Constraints:**
    - `lhs` and `rhs` have two or more dimensions, the same but for the last, and one floating-point element type
    - counts are i32, with the dimensions of `lhs` but the last two, and one for the groups
    - `groups` is at least the number of counts
    - the result type, if given, is float32
  }];
  let arguments = (ins Weft_Tensor:$lhs, Weft_Tensor:$rhs, Weft_Tensor:$counts, Weft_Integer:$groups,
                       OptionalAttr<TypeAttr>:$result_type);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $counts `groups` `(` custom<Number>($groups) `)` (`to` $result_type^)? attr-dict
    `` custom<Types3>(type($lhs), type($rhs), type($counts), type($result))
  }];
  let extraClassDeclaration = !strconcat(groupedDeclarations, [{
    void setResultShape(::llvm::ArrayRef<int64_t> shape);
  }]);
}

#endif
