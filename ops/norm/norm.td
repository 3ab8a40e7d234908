// Normalisations over the last dimension, and their gradients.
#ifndef WEFT_OPS_NORM
#define WEFT_OPS_NORM

include "ops/dialect/base.td"

def Weft_LayerNormOp : Weft_DifferentiableOp<"layer_norm"> {
  let summary = "Rows of mean 0 and variance 1, then scaled and shifted";
  let description = [{
    `y = (x - mean) rstd weight + bias` with `rstd = 1 / sqrt(variance + eps)`, mean and (biased) variance
    along the last dimension, which is never split. For the gradient the op also yields mean and
    rstd, float32 tensors without the last dimension.

    Example: `%y = weft.layer_norm %x, %weight, %bias eps(1.0e-5)`

    **Constraints:**
    - the element type is floating point
    - the operand has one or more dimensions
    - `weight` and `bias` are vectors of the extent of the last dimension, of the operand's element type or float32
    - `eps` is positive
    - there are no statistics or two
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$weight, Weft_Tensor:$bias, Weft_Number:$eps);
  let results = (outs Weft_Tensor:$result, Variadic<Weft_Tensor>:$statistics);
  let assemblyFormat = [{
    $input `,` $weight `,` $bias `eps` `(` custom<Number>($eps) `)` attr-dict
    `` custom<Types3>(type($input), type($weight), type($bias), type($result), type($statistics))
  }];
  let extraClassDeclaration = [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same,wide->same,wide"); }
  }];
}

def Weft_LayerNormGradOp : Weft_PureOp<"layer_norm_grad"> {
  let summary = "Gradient of `weft.layer_norm`";
  let description = [{
    From the gradient `dy` of the result, the operand, the weight and the statistics.

    Example: `%dx, %dweight, %dbias = weft.layer_norm_grad %dy, %x, %weight, %mean, %rstd : (...) -> (...)`

    **Constraints:**
    - the element type is floating point
    - the operands have one or more dimensions
    - `input` has the type of `dy`
    - `weight` is a vector of the extent of the last dimension, of `dy`'s element type or float32; its gradient is alike
    - `mean` and `rstd` are float32, of the shape of `dy` without the last dimension
  }];
  let arguments = (ins Weft_Tensor:$dy, Weft_Tensor:$input, Weft_Tensor:$weight, Weft_Tensor:$mean, Weft_Tensor:$rstd);
  let results = (outs Weft_Tensor:$dinput, Weft_Tensor:$dweight, Weft_Tensor:$dbias);
  let assemblyFormat = [{
    $dy `,` $input `,` $weight `,` $mean `,` $rstd attr-dict
    `` custom<Types5>(type($dy), type($input), type($weight), type($mean), type($rstd), type($dinput), type($dweight),
                   type($dbias))
  }];
  let extraClassDeclaration = [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same,same,wide->same,wide"); }
  }];
}

def Weft_RmsNormOp : Weft_DifferentiableOp<"rms_norm"> {
  let summary = "Rows of mean square 1, then scaled";
  let description = [{
    `y = x rstd weight` with `rstd = 1 / sqrt(mean(x^2) + eps)` along the last dimension, which is never
    split. For the gradient the op also yields rstd, a float32 tensor without the last dimension.

    Example: `%y = weft.rms_norm %x, %weight eps(1.0e-6)`

    **Constraints:**
    - the element type is floating point
    - the operand has one or more dimensions
    - `weight` is a vector of the extent of the last dimension, of the operand's element type or float32
    - `eps` is positive
    - there are no statistics or one
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$weight, Weft_Number:$eps);
  let results = (outs Weft_Tensor:$result, Variadic<Weft_Tensor>:$statistics);
  let assemblyFormat = [{
    $input `,` $weight `eps` `(` custom<Number>($eps) `)` attr-dict
    `` custom<Types2>(type($input), type($weight), type($result), type($statistics))
  }];
  let extraClassDeclaration = [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same,wide->same,wide"); }
  }];
}

def Weft_RmsNormGradOp : Weft_PureOp<"rms_norm_grad"> {
  let summary = "Gradient of `weft.rms_norm`";
  let description = [{
    From the gradient `dy` of the result, the operand, the weight and rstd.

    Example: `%dx, %dweight = weft.rms_norm_grad %dy, %x, %weight, %rstd : (...) -> (...)`

    **Constraints:**
    - the element type is floating point
    - the operands have one or more dimensions
    - `input` has the type of `dy`
    - `weight` is a vector of the extent of the last dimension, of `dy`'s element type or float32; its gradient is alike
    - `rstd` is float32, of the shape of `dy` without the last dimension
  }];
  let arguments = (ins Weft_Tensor:$dy, Weft_Tensor:$input, Weft_Tensor:$weight, Weft_Tensor:$rstd);
  let results = (outs Weft_Tensor:$dinput, Weft_Tensor:$dweight);
  let assemblyFormat = [{
    $dy `,` $input `,` $weight `,` $rstd attr-dict
    `` custom<Types4>(type($dy), type($input), type($weight), type($rstd), type($dinput), type($dweight))
  }];
  let extraClassDeclaration = [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same,same,wide->same,wide"); }
  }];
}

#endif
