// Rows of a table, by number.
#ifndef WEFT_OPS_EMBEDDING
#define WEFT_OPS_EMBEDDING

include "ops/dialect/base.td"

defvar embeddingCost = [{
  ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                           ::llvm::ArrayRef<::mlir::RankedTensorType> results);
}];

def Weft_EmbeddingOp : Weft_DifferentiableOp<"embedding"> {
  let summary = "Rows of a table, chosen by number";
  let description = [{
    From `ids[...]` and `table[v, h]` yields `out[..., h]`, the row of the table for every id. The table may be
    split by rows: a rank then yields zeros for the ids that are not its own, and the result is a pending sum. An
    id outside 0 to v - 1 ends the run.

    Example: `%x = weft.embedding %ids, %table`

    **Constraints:**
    - ids are i32
    - the table has two dimensions and a floating-point element type
  }];
  let arguments = (ins Weft_Tensor:$ids, Weft_Tensor:$table);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `` custom<Types2>(type($ids), type($table), type($result))";
  let extraClassDeclaration = embeddingCost # [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("narrow->narrow"); }
  }];
}

def Weft_EmbeddingGradOp : Weft_PureOp<"embedding_grad"> {
  let summary = "Gradient of the table of an embedding";
  let description = [{
    Adds the rows of `dout[..., h]` up by their id, in the order of the ids, into `dtable[vocab, h]`, which is float32
    whatever `dout` is. A rank may yield some of the rows only; ids that are not its own are left out.

    Example: `%dtable = weft.embedding_grad %ids, %dout vocab(50304)`

    **Constraints:**
    - ids are i32
    - `dout` has the shape of `ids` and one dimension more, and a floating-point element type
    - `vocab` is positive
  }];
  let arguments = (ins Weft_Tensor:$ids, Weft_Tensor:$dout, I64Attr:$vocab);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $ids `,` $dout `vocab` `(` $vocab `)` attr-dict `` custom<Types2>(type($ids), type($dout), type($result))
  }];
  let extraClassDeclaration = embeddingCost # [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("any->wide"); }
    void setResultShape(::llvm::ArrayRef<int64_t> shape) { setVocab(shape[0]); }
    void getKernelAttributes(::mlir::NamedAttrList &attributes);
  }];
}

#endif
