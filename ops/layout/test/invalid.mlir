// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{shape: expected positive extents, got -1}}
%0 = weft.reshape %x [6, -1] : (tensor<2x3xf32>) -> tensor<6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{shape: expected 6 elements as in 'tensor<2x3xf32>', got 8}}
%0 = weft.reshape %x [8] : (tensor<2x3xf32>) -> tensor<8xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{shape: expected a constant, got heads}}
%0 = weft.reshape %x [6, heads] : (tensor<2x3xf32>) -> tensor<6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{result #0: expected 'tensor<6xf32>', got 'tensor<7xf32>'}}
%0 = weft.reshape %x [6] : (tensor<2x3xf32>) -> tensor<7xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{perm: expected 2 dimensions, got 3}}
%0 = weft.transpose %x [0, 1, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{perm: expected 0 or more and less than 2, got 2}}
%0 = weft.transpose %x [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{perm: expected every dimension once, got 1 twice}}
%0 = weft.transpose %x [1, 1] : (tensor<2x3xf32>) -> tensor<3x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{dim: expected 0 or more and less than 2, got 2}}
%0 = weft.slice %x dim(2) from(0) size(1) : (tensor<2x3xf32>) -> tensor<2x1xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{size: expected a positive number, got 0}}
%0 = weft.slice %x dim(1) from(0) size(0) : (tensor<2x3xf32>) -> tensor<2x0xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected a part of 0 to 2, got 2 to 3}}
%0 = weft.slice %x dim(1) from(2) size(2) : (tensor<2x3xf32>) -> tensor<2x2xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected a part of 0 to 2, got -1 to 0}}
%0 = weft.slice %x dim(1) from(-1) size(2) : (tensor<2x3xf32>) -> tensor<2x2xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{attribute 'dim' failed to satisfy constraint: integer or expression}}
%0 = weft.slice %x dim(0.5) from(0) size(1) : (tensor<2x3xf32>) -> tensor<1x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{dim: expected 0 or more and less than 2, got -1}}
%0 = weft.pad %x dim(-1) before(0) after(1) : (tensor<2x3xf32>) -> tensor<2x4xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{before: expected 0 or more, got -1}}
%0 = weft.pad %x dim(1) before(-1) after(1) : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{after: expected 0 or more, got -2}}
%0 = weft.pad %x dim(1) before(1) after(-2) : (tensor<2x3xf32>) -> tensor<2x2xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{result #0: expected at most 281474976710656 elements, got more}}
%0 = weft.pad %x dim(1) before(9223372036854775807) after(9223372036854775807) : (tensor<2x3xf32>) -> tensor<2x1xf32>

// -----

// expected-error @+1 {{expected one or more operands, got none}}
%0 = weft.concat dim(1) : () -> tensor<2x2xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{dim: expected 0 or more and less than 2, got 2}}
%0 = weft.concat %x, %x dim(2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>

// -----

%x, %y = "test.values"() : () -> (tensor<2x3xf32>, tensor<4x3xf32>)
// expected-error @+1 {{expected operands that differ in dimension 1 only, got 'tensor<2x3xf32>' and 'tensor<4x3xf32>'}}
%0 = weft.concat %x, %y dim(1) : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x6xf32>

// -----

%x, %y = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected operands that differ in dimension 1 only, got 'tensor<2x3xf32>' and 'tensor<2x3xbf16>'}}
%0 = weft.concat %x, %y dim(1) : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x6xf32>

// -----

%x, %y = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3x1xf32>)
// expected-error @+1 {{expected operands that differ in dimension 1 only, got 'tensor<2x3xf32>' and 'tensor<2x3x1xf32>'}}
%0 = weft.concat %x, %y dim(1) : (tensor<2x3xf32>, tensor<2x3x1xf32>) -> tensor<2x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected 2 operand types, got 1}}
%0 = weft.concat %x, %x dim(1) : (tensor<2x3xf32>) -> tensor<2x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected 1 result types, got 2}}
%0 = weft.concat %x, %x dim(1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x6xf32>, tensor<2xf32>)
