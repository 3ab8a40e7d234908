// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.neg %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.exp %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.log %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.sqrt %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.rsqrt %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.tanh %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.sigmoid %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.square %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.abs %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.sign %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.sin %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.cos %a : (tensor<2x3xi32>) -> tensor<2x3xi32>
