// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a = "test.value"() : () -> tensor<2x3xi8>
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i8'}}
%0 = weft.cumsum %a dim(0) : (tensor<2x3xi8>) -> tensor<2x3xi8>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{dim: expected 0 or more and less than 2, got 2}}
%0 = weft.cumsum %a dim(2) : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{result #0: expected 'tensor<2x3xf32>', got 'tensor<3xf32>'}}
%0 = weft.cumsum %a dim(0) : (tensor<2x3xf32>) -> tensor<3xf32>
