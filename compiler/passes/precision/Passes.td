#ifndef WEFT_COMPILER_PASSES_PRECISION
#define WEFT_COMPILER_PASSES_PRECISION

include "mlir/Pass/PassBase.td"

def PrecisionContractions : Pass<"weft-precision-contractions", "::weft::ir::GraphOp"> {
  let summary = "Lets contractions read bfloat16";
  let description = [{
    Casts the float32 operands of every `weft.einsum` to bf16, each value once; the result stays float32, which is also
    the type that is accumulated in. The cast of a parameter is its working copy: made once a step, from the float32
    one that the optimizer updates. The table of a `weft.embedding` is read from there too. Other parameters,
    activations between contractions and optimizer state stay float32.

    The gradient of a parameter with a working copy is bf16 if a step has one micro-batch: nothing is added to it. With
    more the sum is float32.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
}

#endif
