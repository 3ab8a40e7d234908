// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.scale %a by(2) : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{factor: expected a constant, got factor}}
%0 = weft.scale %a by(factor) : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

// expected-error @+1 {{expected one or more operands, got none}}
%0 = weft.add_n : () -> tensor<2xf32>

// -----

%a = "test.value"() : () -> tensor<2xf32>
// expected-error @+1 {{expected at most 64 operands, got 65}}
%0 = weft.add_n %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a, %a : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi32>, tensor<2x3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.add_n %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{expected operands of one type, got 'tensor<2x3xf32>' and 'tensor<3xf32>'}}
%0 = weft.add_n %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a = "test.value"() : () -> tensor<2x3xi16>
// expected-error @+1 {{expected element types that are floating point, i32, i64 or i8, got 'i16'}}
%0 = weft.cast %a to f32 : (tensor<2x3xi16>) -> tensor<2x3xf32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected element types that are floating point, i32, i64 or i8, got 'i1'}}
%0 = weft.cast %a to i1 : (tensor<2x3xf32>) -> tensor<2x3xi1>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected 'tensor<2x3xf32>' to broadcast to the shape [2, 4]}}
%0 = weft.broadcast_to %a [2, 4] : (tensor<2x3xf32>) -> tensor<2x4xf32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected 'tensor<2x3xf32>' to broadcast to the shape [3]}}
%0 = weft.broadcast_to %a [3] : (tensor<2x3xf32>) -> tensor<3xf32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected 2 operand types, got 1}}
%0 = weft.add_n %a, %a : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.add_scalar %a by(2) : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.power %a by(2) : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.clamp %a min(2) : (tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{expected `min`, `max` or both, got none}}
%0 = weft.clamp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{min: expected at most 1.000000e+00, got 2.000000e+00}}
%0 = weft.clamp %a min(2) max(1) : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%a = "test.value"() : () -> tensor<2x3xf32>
// expected-error @+1 {{result #0: expected 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
%0 = weft.stop_gradient %a : (tensor<2x3xf32>) -> tensor<3x2xf32>
