// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.relu %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.silu %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.gelu %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{approximate: expected none or tanh, got erf}}
%0 = weft.gelu %a approximate(erf) : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi32>, tensor<2x3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.relu_grad %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{x: expected 'tensor<2x3xf32>', got 'tensor<3xf32>'}}
%0 = weft.relu_grad %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi32>, tensor<2x3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.silu_grad %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{x: expected 'tensor<2x3xf32>', got 'tensor<3xf32>'}}
%0 = weft.silu_grad %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi32>, tensor<2x3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.gelu_grad %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{x: expected 'tensor<2x3xf32>', got 'tensor<3xf32>'}}
%0 = weft.gelu_grad %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>)
// expected-error @+1 {{approximate: expected none or tanh, got erf}}
%0 = weft.gelu_grad %a, %b approximate(erf) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
