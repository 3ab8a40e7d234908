// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{kind: expected sum, mean or max, got min}}
%0 = weft.reduce min %x over [0] : (tensor<2x3xf32>) -> tensor<3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.reduce sum %x over [0] : (tensor<2x3xi32>) -> tensor<3xi32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{dims: expected 0 or more and less than 2, got 2}}
%0 = weft.reduce sum %x over [2] : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{dims: expected distinct dimensions, got 1 twice}}
%0 = weft.reduce sum %x over [1, 1] : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

%x = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{result #0: expected 'tensor<1x3xf32>', got 'tensor<3xf32>'}}
%0 = weft.reduce sum %x over [0] keep_dims : (tensor<2x3xf32>) -> tensor<3xf32>
