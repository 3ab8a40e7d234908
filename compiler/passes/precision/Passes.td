#ifndef WEFT_COMPILER_PASSES_PRECISION
#define WEFT_COMPILER_PASSES_PRECISION

include "mlir/Pass/PassBase.td"

def PrecisionContractions : Pass<"weft-precision-contractions", "::weft::ir::GraphOp"> {
  let summary = "Lets contractions read bfloat16";
  let description = [{
    Casts the float32 operands of every `weft.einsum` to bf16, each value once; the result stays float32, which is also
    the type that is accumulated in. Parameters, activations between contractions and optimizer state stay float32.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
}

#endif
