// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.softmax %a : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<f32>
// expected-error @+1 {{expected one or more dimensions, got 'tensor<f32>'}}
%0 = weft.softmax %a : (tensor<f32>) -> tensor<f32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{result #0: expected 'tensor<2x3xf32>', got 'tensor<3xf32>'}}
%0 = weft.softmax %a : (tensor<2x3xf32>) -> tensor<3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi32>, tensor<2x3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.softmax_grad %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a, %b = "test.values"() : () -> (tensor<f32>, tensor<f32>)
// expected-error @+1 {{expected one or more dimensions, got 'tensor<f32>'}}
%0 = weft.softmax_grad %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x4xf32>)
// expected-error @+1 {{y: expected 'tensor<2x3xf32>', got 'tensor<2x4xf32>'}}
%0 = weft.softmax_grad %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
