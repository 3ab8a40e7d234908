// Windows that slide over a tensor: taken apart and put together, pooled, and weighed channel by channel.
#ifndef WEFT_OPS_WINDOW
#define WEFT_OPS_WINDOW

include "ops/dialect/base.td"

// How windows lie, one number for each dimension that they slide along. Without an attribute, `stride` and `dilation`
// are 1, `padding` is 0, and `padding_after` is what `padding` is.
defvar windowSteps = (ins OptionalAttr<Weft_Integers>:$stride, OptionalAttr<Weft_Integers>:$padding,
                      OptionalAttr<Weft_Integers>:$padding_after, OptionalAttr<Weft_Integers>:$dilation);
defvar windowStepsFormat = [{
  (`stride` custom<Numbers>($stride)^)? (`padding` custom<Numbers>($padding)^)?
  (`padding_after` custom<Numbers>($padding_after)^)? (`dilation` custom<Numbers>($dilation)^)? attr-dict ``
}];
defvar windowFormat = [{ `dim` `(` custom<Number>($dim) `)` `size` custom<Numbers>($size) }];
defvar windowCost = [{
  ::weft::ir::Cost getCost(::llvm::ArrayRef<::mlir::RankedTensorType> operands,
                           ::llvm::ArrayRef<::mlir::RankedTensorType> results);
}];
defvar narrowOperands = [{
  ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("narrow->narrow"); }
}];

def Weft_UnfoldOp : Weft_DifferentiableOp<"unfold"> {
  let summary = "The windows of a tensor, side by side (im2col)";
  let description = [{
    Windows of `size` slide along as many dimensions, those from `dim` on: a convolution is this and a `weft.einsum`, an
    average pooling this and a `weft.reduce`. From `x[outer..., extents..., inner...]` comes
    `y[outer..., places..., size..., inner...]`, where along each of the dimensions
    `y[.., p, .., k, ..] = x[.., p stride - padding + k dilation, ..]`, and 0 where that is outside. There are
    `(extent + padding + padding_after - dilation (size - 1) - 1) / stride + 1` places, rounded down, as with `Unfold` of
    torch. `stride` and `dilation` are 1 unless given, `padding` is 0, and `padding_after`, that behind the last element,
    is as much as `padding`. Dimensions along which windows slide are never split.

    Where channels are the last dimension, the windows of a place lie as a row of a matrix. The gradient is `weft.fold`.

    Example: `%y = weft.unfold %x dim(1) size [3, 3] stride [2, 2] padding [1, 1]` of `[batch, height, width, channels]`

    **Constraints:**
    - `size` has 1 to 3 numbers, each other list as many, and the operand as many dimensions from `dim` on
    - sizes, strides and dilations are 1 or more, paddings 0 or more
    - a window fits into a dimension and its padding
  }];
  let arguments = !con((ins Weft_Tensor:$input, Weft_Integer:$dim, Weft_Integers:$size), windowSteps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = !strconcat("$input", windowFormat, windowStepsFormat, "custom<Types1>(type($input), type($result))");
  let extraClassDeclaration = Weft_anyPrecision;
}

def Weft_FoldOp : Weft_DifferentiableOp<"fold"> {
  let summary = "Sums windows where they overlap (col2im)";
  let description = [{
    The transpose of `weft.unfold`, and its gradient: from `y[outer..., places..., size..., inner...]` comes
    `x[outer..., extents..., inner...]`, in which an element is the sum of all elements of windows that lie on it, taken in
    float32. What lies in the padding is left out. So a transposed convolution is a `weft.einsum` and this.

    Example: `%x = weft.fold %y dim(1) size [3, 3] extents [28, 28] stride [2, 2] padding [1, 1]`

    **Constraints:**
    - those of `weft.unfold` of the result
    - `extents` has a number for each of `size`
    - the operand has from `dim` on the places and the sizes of the windows
    - the element type is floating point
  }];
  let arguments = !con((ins Weft_Tensor:$input, Weft_Integer:$dim, Weft_Integers:$size, Weft_Integers:$extents),
                       windowSteps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = !strconcat("$input", windowFormat, "`extents` custom<Numbers>($extents)", windowStepsFormat, "custom<Types1>(type($input), type($result))");
  let extraClassDeclaration = !strconcat(windowCost, Weft_anyPrecision);
}

def Weft_MaxPoolOp : Weft_DifferentiableOp<"max_pool"> {
  let summary = "The largest element of each window";
  let description = [{
    From `x[outer..., extents..., inner...]` comes `y[outer..., places..., inner...]`; windows lie as in `weft.unfold`. What
    is outside counts as minus infinity. NaN is larger than any number. The gradient of a window goes to the first of its
    largest elements, as with torch.

    Example: `%y = weft.max_pool %x dim(1) size [2, 2] stride [2, 2]` of `[batch, height, width, channels]`

    **Constraints:**
    - those of `weft.unfold`
    - the element type is floating point
  }];
  let arguments = !con((ins Weft_Tensor:$input, Weft_Integer:$dim, Weft_Integers:$size), windowSteps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = !strconcat("$input", windowFormat, windowStepsFormat, "custom<Types1>(type($input), type($result))");
  let extraClassDeclaration = !strconcat(windowCost, Weft_anyPrecision);
}

def Weft_MaxPoolGradOp : Weft_PureOp<"max_pool_grad"> {
  let summary = "Gradient of max_pool";
  let description = [{
    From the gradient of the result, the operand and the result: an element gets the gradients of those windows whose first
    largest element it is, summed in float32.

    Example: `%dx = weft.max_pool_grad %dy, %x, %y dim(1) size [2, 2] stride [2, 2]`

    **Constraints:**
    - those of `weft.max_pool` of `x`
    - `dy` and `y` have the type of its result
  }];
  let arguments = !con((ins Weft_Tensor:$dy, Weft_Tensor:$x, Weft_Tensor:$y, Weft_Integer:$dim, Weft_Integers:$size),
                       windowSteps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = !strconcat("$dy `,` $x `,` $y", windowFormat, windowStepsFormat, "custom<Types3>(type($dy), type($x), type($y), type($result))");
  let extraClassDeclaration = !strconcat(windowCost, Weft_anyPrecision);
}

def Weft_DepthwiseConvOp : Weft_DifferentiableOp<"depthwise_conv"> {
  let summary = "A convolution of every channel with weights of its own";
  let description = [{
    From `x[outer..., extents..., channels]` and `w[size..., channels]` comes `y[outer..., places..., channels]`, where
    `y[.., p, .., c]` is the sum over the window at `p` of `x w[.., c]`, taken in float32. Windows lie as in `weft.unfold`, of
    the size of `w`. The weights are not turned around: a cross-correlation, as with torch.

    Examples: `%y = weft.depthwise_conv %x, %w padding [3, 3]`,
    `%y = weft.depthwise_conv %x, %w padding [3] padding_after [0]` of `[batch, time, channels]`, which sees the past only

    **Constraints:**
    - `w` has 2 to 4 dimensions, and `x` as many or more
    - both have the same last extent and one floating-point element type
    - those of `weft.unfold` where windows have the size of `w`
  }];
  let arguments = !con((ins Weft_Tensor:$input, Weft_Tensor:$weight), windowSteps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = !strconcat("$input `,` $weight", windowStepsFormat, "custom<Types2>(type($input), type($weight), type($result))");
  let extraClassDeclaration = !strconcat(windowCost, narrowOperands);
}

def Weft_DepthwiseConvGradInputOp : Weft_PureOp<"depthwise_conv_grad_input"> {
  let summary = "Gradient of a depthwise convolution with respect to its input";
  let description = [{
    From `dy[outer..., places..., channels]` and `w[size..., channels]` comes `dx[outer..., extents..., channels]`: sums over
    the windows that have an element, in float32.

    Example: `%dx = weft.depthwise_conv_grad_input %dy, %w extents [28, 28] padding [3, 3]`

    **Constraints:** `dy` has the type of the `weft.depthwise_conv` of the result and `w`.
  }];
  let arguments = !con((ins Weft_Tensor:$dy, Weft_Tensor:$weight, Weft_Integers:$extents), windowSteps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = !strconcat("$dy `,` $weight `extents` custom<Numbers>($extents)", windowStepsFormat, "custom<Types2>(type($dy), type($weight), type($result))");
  let extraClassDeclaration = !strconcat(windowCost, narrowOperands);
}

def Weft_DepthwiseConvGradWeightOp : Weft_PureOp<"depthwise_conv_grad_weight"> {
  let summary = "Gradient of a depthwise convolution with respect to its weights";
  let description = [{
    From `x[outer..., extents..., channels]` and `dy[outer..., places..., channels]` comes `dw[size..., channels]`: sums over all
    places. It is float32 whatever the operands are.

    Example: `%dw = weft.depthwise_conv_grad_weight %x, %dy size [7, 7] padding [3, 3]`

    **Constraints:** `dy` has the type of the `weft.depthwise_conv` of `x` and weights of this size.
  }];
  let arguments = !con((ins Weft_Tensor:$input, Weft_Tensor:$dy, Weft_Integers:$size), windowSteps);
  let results = (outs Weft_Tensor:$result);
  let assemblyFormat = !strconcat("$input `,` $dy `size` custom<Numbers>($size)", windowStepsFormat, "custom<Types2>(type($input), type($dy), type($result))");
  let extraClassDeclaration = windowCost # [{
    ::weft::ir::Precision getPrecision() { return ::weft::ir::Precision::parse("narrow->wide"); }
  }];
}

#endif
