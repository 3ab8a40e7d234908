// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a = "test.value"() : () -> tensor<2x3xi64>
// expected-error @+1 {{expected a floating-point element type or i32, got 'i64'}}
%0:2 = weft.sort %a dim(0) : (tensor<2x3xi64>) -> (tensor<2x3xi64>, tensor<2x3xi32>)

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{dim: expected 0 or more and less than 2, got 2}}
%0:2 = weft.sort %a dim(2) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{k: expected 1 to 3, got 4}}
%0:2 = weft.top_k %a k(4) dim(1) : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)

// -----

%a = "test.value"() : () -> tensor<3000000000xf32>
// expected-error @+1 {{expected at most 2147483647 elements along dimension 0, got 3000000000}}
%0:2 = weft.sort %a dim(0) : (tensor<3000000000xf32>) -> (tensor<3000000000xf32>, tensor<3000000000xi32>)
