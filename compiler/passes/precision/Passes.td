#ifndef WEFT_COMPILER_PASSES_PRECISION
#define WEFT_COMPILER_PASSES_PRECISION

include "mlir/Pass/PassBase.td"

def PrecisionContractions : Pass<"weft-precision-contractions", "::weft::ir::GraphOp"> {
  let summary = "Lets contractions read bfloat16 or float16";
  let description = [{
    Casts the float32 operands of every `weft.einsum` to `type`, each value once; the result stays float32, which is also
    the type that is accumulated in. The cast of a parameter is its working copy: made once a step, from the float32
    one that the optimizer updates. Activations between contractions and optimizer state stay float32.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [Option<"type", "type", "std::string", /*default=*/"\"bf16\"", "bf16 or f16">];
}

def PrecisionTables : Pass<"weft-precision-tables", "::weft::ir::GraphOp"> {
  let summary = "Lets embeddings read bfloat16 or float16 tables";
  let description = [{
    A `weft.embedding` of a float32 parameter reads the parameter's working copy of `type`; the rows are cast back.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [Option<"type", "type", "std::string", /*default=*/"\"bf16\"", "bf16 or f16">];
}

def PrecisionGradients : Pass<"weft-precision-gradients", "::weft::ir::GraphOp"> {
  let summary = "Makes gradients bfloat16 or float16 where nothing is added to them";
  let description = [{
    In a step of one micro-batch the gradient of a parameter with a working copy of `type` has that type: the product that
    makes it rounds it, or a cast does. In a step of several their sum is float32.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [Option<"type", "type", "std::string", /*default=*/"\"bf16\"", "bf16 or f16">];
}

#endif
