#ifndef WEFT_COMPILER_PASSES_PRECISION
#define WEFT_COMPILER_PASSES_PRECISION

include "mlir/Pass/PassBase.td"

def PrecisionContractions : Pass<"weft-precision-contractions", "::weft::ir::GraphOp"> {
  let summary = "Lets contractions read bfloat16";
  let description = [{
    Casts the float32 operands of every `weft.einsum` to bf16, each value once; the result stays float32, which is also
    the type that is accumulated in. The cast of a parameter is its working copy: made once a step, from the float32
    one that the optimizer updates. Activations between contractions and optimizer state stay float32.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
}

def PrecisionTables : Pass<"weft-precision-tables", "::weft::ir::GraphOp"> {
  let summary = "Lets embeddings read bfloat16 tables";
  let description = [{
    A `weft.embedding` of a float32 parameter reads the parameter's bf16 working copy; the rows are cast back.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
}

def PrecisionGradients : Pass<"weft-precision-gradients", "::weft::ir::GraphOp"> {
  let summary = "Makes gradients bfloat16 where nothing is added to them";
  let description = [{
    In a step of one micro-batch the gradient of a parameter with a bf16 working copy is bf16: the product that
    makes it rounds it, or a cast does. So are the parts that several stages have of one, and their sum. In a step of
    several micro-batches the sum is float32.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
}

#endif
