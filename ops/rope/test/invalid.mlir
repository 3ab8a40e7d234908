// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%x = "test.value"() : () -> tensor<2x3x6xf32>
// expected-error @+1 {{expected [batch, sequence, heads, head size], got 'tensor<2x3x6xf32>'}}
%0 = weft.rope %x theta(1.0e4) : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x6xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.rope %x theta(1.0e4) : (tensor<2x3x4x6xi32>) -> tensor<2x3x4x6xi32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x5xf32>
// expected-error @+1 {{expected an even head size of at most 512, got 5}}
%0 = weft.rope %x theta(1.0e4) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x514xf32>
// expected-error @+1 {{expected an even head size of at most 512, got 514}}
%0 = weft.rope %x theta(1.0e4) : (tensor<2x3x4x514xf32>) -> tensor<2x3x4x514xf32>

// -----

%x, %p = "test.values"() : () -> (tensor<2x3x4x6xf32>, tensor<2x4xi32>)
// expected-error @+1 {{positions: expected 'tensor<2x3xi32>', got 'tensor<2x4xi32>'}}
%0 = weft.rope %x at(%p) theta(1.0e4) : (tensor<2x3x4x6xf32>, tensor<2x4xi32>) -> tensor<2x3x4x6xf32>

// -----

%x, %p = "test.values"() : () -> (tensor<2x3x4x6xf32>, tensor<2x3xf32>)
// expected-error @+1 {{positions: expected 'tensor<2x3xi32>', got 'tensor<2x3xf32>'}}
%0 = weft.rope %x at(%p) theta(1.0e4) : (tensor<2x3x4x6xf32>, tensor<2x3xf32>) -> tensor<2x3x4x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x6xf32>
// expected-error @+1 {{theta: expected a positive number, got 0.000000e+00}}
%0 = weft.rope %x theta(0.0) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x6xf32>
// expected-error @+1 {{factor: expected a positive number, got -1.000000e+00}}
%0 = weft.rope %x theta(1.0e4) factor(-1.0) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x6xf32>
// expected-error @+1 {{expected factor, low, high and original together, or factor alone}}
%0 = weft.rope %x theta(1.0e4) factor(8.0) low(1.0) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x6xf32>
// expected-error @+1 {{expected factor, low, high and original together, or factor alone}}
%0 = weft.rope %x theta(1.0e4) low(1.0) high(4.0) original(64) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x6xf32>
// expected-error @+1 {{low: expected a positive number, got 0.000000e+00}}
%0 = weft.rope %x theta(1.0e4) factor(8.0) low(0) high(4.0) original(64) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x6xf32>
// expected-error @+1 {{original: expected a positive number, got 0.000000e+00}}
%0 = weft.rope %x theta(1.0e4) factor(8.0) low(1.0) high(4.0) original(0) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>

// -----

%x = "test.value"() : () -> tensor<2x3x4x6xf32>
// expected-error @+1 {{high: expected a number above low (4.000000e+00), got 4.000000e+00}}
%0 = weft.rope %x theta(1.0e4) factor(8.0) low(4.0) high(4.0) original(64) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
