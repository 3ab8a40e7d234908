#ifndef WEFT_COMPILER_PASSES_PRECISION
#define WEFT_COMPILER_PASSES_PRECISION

include "mlir/Pass/PassBase.td"

def PrecisionNarrow : Pass<"weft-precision-narrow", "::weft::ir::GraphOp"> {
  let summary = "Makes activations bfloat16 or float16";
  let description = [{
    Every op says how wide its operands and results are to be (`getPrecision` of the op interface): always float32, always
    `type`, the same as other operands, or whatever comes. From that every value becomes `type` or stays float32:

    - what an op yields in either type is float32 if only float32 is read of it, as a gradient that is summed;
    - an op whose operands have one type has `type` if all of them can, parameters and constants aside, which follow;
    - what is float32 otherwise stays float32, and is cast where an op reads `type`.

    Every value is cast once; what was cast to float32 is not cast back. The cast of a parameter is its working copy: made
    once a step, from the float32 one that the optimizer updates. With `wide-residuals` sums of two activations in the
    forward are float32.

    Of a graph that has other types than float32 already, the ops that read them stay as they are.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"type", "type", "std::string", /*default=*/"\"bf16\"", "bf16 or f16">,
    Option<"wideResiduals", "wide-residuals", "bool", /*default=*/"false", "whether residual connections are float32">,
  ];
}

def PrecisionGradients : Pass<"weft-precision-gradients", "::weft::ir::GraphOp"> {
  let summary = "Makes gradients bfloat16 or float16 where nothing is added to them";
  let description = [{
    In a step of one micro-batch the gradient of a parameter with a working copy of `type` has that type: the product that
    makes it rounds it, or a cast does. So have the parts that several stages have of one, and their sum. In a step of
    several micro-batches the sum is float32.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [Option<"type", "type", "std::string", /*default=*/"\"bf16\"", "bf16 or f16">];
}

def PrecisionLossScale : Pass<"weft-precision-loss-scale", "::weft::ir::GraphOp"> {
  let summary = "Scales the loss by what the gradients' range allows";
  let description = [{
    Dynamic loss scaling. The parameter `loss_scale`, state of the optimizer, takes the place of the 1 with which the
    backward begins, of each loss (the ops with `loss_seed`); `weft.clip_scale` takes it out of the gradients' norm and of the factor
    by which float32 updates multiply them. `weft.loss_scale` behind it tells from the sum of squares of all gradients,
    which is not finite if one of them is not, whether the step counts; every update takes its `step`, and changes
    nothing where that is 0. Two more scalars count: `loss_scale.good_steps` in a row and `loss_scale.skipped_steps`.
    Metrics: `loss_scale`, that of the next step, and `skipped_steps`.

    A graph that minimizes nothing is left as it is.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
  let options = [
    Option<"initial", "initial", "double", /*default=*/"65536", "the scale of the first step">,
    Option<"growthFactor", "growth-factor", "double", "2", "by which it grows">,
    Option<"backoffFactor", "backoff-factor", "double", "0.5", "by which it shrinks">,
    Option<"growthInterval", "growth-interval", "int64_t", "2000", "steps in a row until it grows">,
    Option<"min", "min", "double", "1", "the least scale">,
    Option<"max", "max", "double", "16777216", "the largest scale">,
  ];
}

def PrecisionTf32 : Pass<"weft-precision-tf32", "::weft::ir::GraphOp"> {
  let summary = "Lets contractions of float32 operands round them to TF32";
  let description = [{
    Marks every op whose cost is that of a contraction, and whose first operand is float32, with `tf32`. Its kernel gets
    the attribute `tf32 = 1` and may read operands with 10 bits of mantissa; sums stay float32. Where
    the device of the graph has no TF32 (runtime/plan/devices.h), nothing is marked.
  }];
  let dependentDialects = ["::weft::ir::WeftDialect"];
}

#endif
