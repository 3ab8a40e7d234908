// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{size: expected 1 to 3 numbers, got 0}}
%0 = weft.unfold %x dim(1) size [] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{dim: expected 0 or more and less than 3, got 3}}
%0 = weft.unfold %x dim(3) size [2] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{expected 2 dimensions from 2 on, got a tensor of 3}}
%0 = weft.unfold %x dim(2) size [2, 2] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{size: expected 1 or more, got 0}}
%0 = weft.unfold %x dim(1) size [0] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{stride: expected 1 numbers, as `size` has, got 2}}
%0 = weft.unfold %x dim(1) size [2] stride [1, 1] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{stride: expected 1 or more, got 0}}
%0 = weft.unfold %x dim(1) size [2] stride [0] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{padding_after: expected 0 or more, got -1}}
%0 = weft.unfold %x dim(1) size [2] padding_after [-1] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{dilation: expected 1 or more, got 0}}
%0 = weft.unfold %x dim(1) size [2] dilation [0] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xf32>
// expected-error @+1 {{expected a window that fits into dimension 1, of 5 elements and 2 of padding, got one of 9}}
%0 = weft.unfold %x dim(1) size [5] padding [1] dilation [2] : (tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x2x3xf32>
// expected-error @+1 {{extents: expected 1 numbers, as `size` has, got 2}}
%0 = weft.fold %x dim(1) size [2] extents [5, 5] : (tensor<2x3x2x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x2x3xf32>
// expected-error @+1 {{input: expected 'tensor<2x4x2x3xf32>', got 'tensor<2x3x2x3xf32>'}}
%0 = weft.fold %x dim(1) size [2] extents [5] : (tensor<2x3x2x3xf32>) -> tensor<2x5x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x4x2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.fold %x dim(1) size [2] extents [5] : (tensor<2x4x2x3xi32>) -> tensor<2x5x3xi32>

// -----

%x = "test.value"() : () -> tensor<2x5x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.max_pool %x dim(1) size [2] : (tensor<2x5x3xi32>) -> tensor<2x4x3xi32>

// -----

%x, %y = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<2x5x3xf32>)
// expected-error @+1 {{dy: expected 'tensor<2x4x3xf32>', got 'tensor<2x5x3xf32>'}}
%0 = weft.max_pool_grad %y, %x, %y dim(1) size [2] : (tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<2x5x3xf32>) -> tensor<2x5x3xf32>

// -----

%x, %w = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<3xf32>)
// expected-error @+1 {{expected [..., extents..., channels] and [size..., channels] of 1 to 3 sizes, got 'tensor<2x5x3xf32>' and 'tensor<3xf32>'}}
%0 = weft.depthwise_conv %x, %w : (tensor<2x5x3xf32>, tensor<3xf32>) -> tensor<2x5x3xf32>

// -----

%x, %w = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<2x4xf32>)
// expected-error @+1 {{weight: expected 3 channels, got 4}}
%0 = weft.depthwise_conv %x, %w : (tensor<2x5x3xf32>, tensor<2x4xf32>) -> tensor<2x4x3xf32>

// -----

%x, %w = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.depthwise_conv %x, %w : (tensor<2x5x3xf32>, tensor<2x3xbf16>) -> tensor<2x4x3xf32>

// -----

%y, %w = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<2x3xf32>)
// expected-error @+1 {{dy: expected 'tensor<2x4x3xf32>', got 'tensor<2x5x3xf32>'}}
%0 = weft.depthwise_conv_grad_input %y, %w extents [5] : (tensor<2x5x3xf32>, tensor<2x3xf32>) -> tensor<2x5x3xf32>

// -----

%x, %y = "test.values"() : () -> (tensor<2x5x3xf32>, tensor<2x5x3xf32>)
// expected-error @+1 {{dy: expected 'tensor<2x4x3xf32>', got 'tensor<2x5x3xf32>'}}
%0 = weft.depthwise_conv_grad_weight %x, %y size [2] : (tensor<2x5x3xf32>, tensor<2x5x3xf32>) -> tensor<2x3xf32>
