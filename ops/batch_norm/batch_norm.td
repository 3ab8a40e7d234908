// Batch normalisation, whole and in the pieces that can be split along the batch.
#ifndef WEFT_OPS_BATCH_NORM
#define WEFT_OPS_BATCH_NORM

include "ops/dialect/base.td"

defvar batchNormCost = [{
  ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                           ::llvm::ArrayRef<::mlir::RankedTensorType> results);
}];

def Weft_BatchNormOp
    : Weft_DifferentiableOp<"batch_norm", [DeclareOpInterfaceMethods<Weft_DecomposableOpInterface>]> {
  let summary = "Mean 0 and variance 1 over the batch, then scaled and shifted";
  let description = [{
    `y = (x - mean) / sqrt(variance + eps) weight + bias` (Ioffe and Szegedy, "Batch normalization", 2015, algorithm 1). Mean and
    (biased) variance are taken over the dimensions `dims`, of the whole micro-batch whatever the layout, and each index
    of the other dimensions has its own. The last of the others is that of the channels, which `weight` and `bias` are of.

    - `[batch, channels]`: `over [0]`; `[batch, channels, h, w]`: `over [0, 2, 3]`; `[batch, h, w, channels]`: `over [0, 1, 2]`
    - statistics of each of n parts of the batch (ghost batch norm): reshape to `[n, batch / n, channels]`, then `over [1]`.
      Where n is a multiple of the ranks that share the batch, each has its parts to itself and nothing is sent.

    `mean` and `variance`, float32, are for running statistics; no gradient flows back to them. The op has no kernel:
    after differentiation it becomes `reduce mean`, `batch_variance` and `batch_norm_apply`, of which the first two
    leave pending sums where the batch is split. All micro-batches are of one size: `batch.micro` divides `batch.global`.

    Example: `%y, %mean, %variance = weft.batch_norm %x, %weight, %bias over [0] eps(1.0e-5)`

    **Constraints:**
    - the element type is floating point
    - `dims` are distinct dimensions of the operand, one or more, and not all
    - `weight` and `bias` are float32 vectors of the extent of the last dimension that is not among them
    - `eps` is positive
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$weight, Weft_Tensor:$bias, Weft_Integers:$dims,
                       Weft_Number:$eps);
  let results = (outs Weft_Tensor:$result, Weft_Tensor:$mean, Weft_Tensor:$variance);
  let assemblyFormat = [{
    $input `,` $weight `,` $bias `over` custom<Numbers>($dims) `eps` `(` custom<Number>($eps) `)` attr-dict
    `` custom<Types3>(type($input), type($weight), type($bias), type($result), type($mean), type($variance))
  }];
}

def Weft_BatchVarianceOp : Weft_PureOp<"batch_variance"> {
  let summary = "Mean of the squared distances from a mean";
  let description = [{
    The mean over `dims` of `(x - mean)^2`, in float32. It divides by the extents of the whole (global) dimensions, so
    that the ranks that share them have parts of it.

    Example: `%variance = weft.batch_variance %x, %mean over [0]`

    **Constraints:**
    - the element type is floating point
    - `dims` are distinct dimensions of the operand, one or more, and not all
    - `mean` is float32, of the shape of the operand without `dims`
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$mean, Weft_Integers:$dims);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $mean `over` custom<Numbers>($dims) attr-dict
    `` custom<Types2>(type($input), type($mean), type($result))
  }];
  let extraClassDeclaration = !strconcat(batchNormCost, [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("any,wide->wide"); }
  }]);
}

def Weft_BatchNormApplyOp : Weft_DifferentiableOp<"batch_norm_apply"> {
  let summary = "Batch normalisation with given statistics";
  let description = [{
    `y = (x - mean) / sqrt(variance + eps) weight + bias`; see `weft.batch_norm`. With running statistics it is what
    `weft.batch_norm` is in an evaluation.

    Example: `%y = weft.batch_norm_apply %x, %running_mean, %running_var, %weight, %bias over [0] eps(1.0e-5)`

    **Constraints:**
    - the element type is floating point
    - `dims` are distinct dimensions of the operand, one or more, and not all
    - `mean` and `variance` are float32, of the shape of the operand without `dims`
    - `weight` and `bias` are float32 vectors of the extent of the last dimension that is not among them
    - `eps` is positive
  }];
  let arguments = (ins Weft_Tensor:$input, Weft_Tensor:$mean, Weft_Tensor:$variance, Weft_Tensor:$weight,
                       Weft_Tensor:$bias, Weft_Integers:$dims, Weft_Number:$eps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $mean `,` $variance `,` $weight `,` $bias `over` custom<Numbers>($dims)
    `eps` `(` custom<Number>($eps) `)` attr-dict
    `` custom<Types5>(type($input), type($mean), type($variance), type($weight), type($bias), type($result))
  }];
  let extraClassDeclaration = !strconcat(batchNormCost, Weft_overwritesOperand, [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same,wide->same"); }
  }]);
}

def Weft_BatchNormSumsOp : Weft_PureOp<"batch_norm_sums"> {
  let summary = "What the gradients of `weft.batch_norm` sum over the batch";
  let description = [{
    Over `dims`, in float32: `sum dy`, and `sum dy n` with `n = (x - mean) / sqrt(variance + eps)`.

    Example: `%dy_sum, %dyn_sum = weft.batch_norm_sums %dy, %x, %mean, %variance over [0] eps(1.0e-5) : (...) -> (...)`

    **Constraints:**
    - the element type is floating point
    - `dims` are distinct dimensions of the operand, one or more, and not all
    - `input` has the type of `dy`
    - `mean` and `variance` are float32, of the shape of `dy` without `dims`
    - `eps` is positive
  }];
  let arguments = (ins Weft_Tensor:$dy, Weft_Tensor:$input, Weft_Tensor:$mean, Weft_Tensor:$variance,
                       Weft_Integers:$dims, Weft_Number:$eps);
  let results = (outs Weft_Tensor:$dy_sum, Weft_Tensor:$dyn_sum);
  let assemblyFormat = [{
    $dy `,` $input `,` $mean `,` $variance `over` custom<Numbers>($dims) `eps` `(` custom<Number>($eps) `)` attr-dict
    `` custom<Types4>(type($dy), type($input), type($mean), type($variance), type($dy_sum), type($dyn_sum))
  }];
  let extraClassDeclaration = !strconcat(batchNormCost, [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same,same,wide->wide"); }
  }]);
}

def Weft_BatchNormGradOp : Weft_PureOp<"batch_norm_grad"> {
  let summary = "Gradient of `weft.batch_norm` with respect to its operand";
  let description = [{
    `dx = weight / sqrt(variance + eps) (dy - dy_sum / m - n dyn_sum / m)` with n and the sums of `weft.batch_norm_sums`,
    and m the product of the extents of the whole (global) `dims` (the paper, section 3).

    Example:
    ```mlir
    %dx = weft.batch_norm_grad %dy, %x, %mean, %variance, %weight, %dy_sum, %dyn_sum over [0] eps(1.0e-5) : (...) -> ...
    ```

    **Constraints:**
    - the element type is floating point
    - `dims` are distinct dimensions of the operand, one or more, and not all
    - `input` has the type of `dy`
    - `mean`, `variance`, `dy_sum` and `dyn_sum` are float32, of the shape of `dy` without `dims`
    - `weight` is a float32 vector of the extent of the last dimension that is not among them
    - `eps` is positive
  }];
  let arguments = (ins Weft_Tensor:$dy, Weft_Tensor:$input, Weft_Tensor:$mean, Weft_Tensor:$variance,
                       Weft_Tensor:$weight, Weft_Tensor:$dy_sum, Weft_Tensor:$dyn_sum, Weft_Integers:$dims,
                       Weft_Number:$eps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = [{
    $dy `,` $input `,` $mean `,` $variance `,` $weight `,` $dy_sum `,` $dyn_sum `over` custom<Numbers>($dims)
    `eps` `(` custom<Number>($eps) `)` attr-dict
    `` custom<Types7>(type($dy), type($input), type($mean), type($variance), type($weight), type($dy_sum),
                   type($dyn_sum), type($result))
  }];
  let extraClassDeclaration = !strconcat(batchNormCost, Weft_overwritesOperand, [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("same,same,wide->same"); }
  }]);
}

#endif
