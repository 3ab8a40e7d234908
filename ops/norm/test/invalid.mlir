// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a, %b, %c = "test.values"() : () -> (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.layer_norm %a, %b, %c eps(1.0e-5) : (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x3xi32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<f32>, tensor<f32>, tensor<f32>)
// expected-error @+1 {{expected one or more dimensions, got 'tensor<f32>'}}
%0 = weft.layer_norm %a, %b, %c eps(1.0e-5) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>)
// expected-error @+1 {{weight: expected 'tensor<3xf32>', got 'tensor<4xf32>'}}
%0 = weft.layer_norm %a, %b, %c eps(1.0e-5) : (tensor<2x3xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xbf16>, tensor<3xf32>)
// expected-error @+1 {{weight: expected 'tensor<3xf32>', got 'tensor<3xbf16>'}}
%0 = weft.layer_norm %a, %b, %c eps(1.0e-5) : (tensor<2x3xf32>, tensor<3xbf16>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>)
// expected-error @+1 {{bias: expected 'tensor<3xf32>', got 'tensor<2xf32>'}}
%0 = weft.layer_norm %a, %b, %c eps(1.0e-5) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
// expected-error @+1 {{eps: expected a positive number, got 0}}
%0 = weft.layer_norm %a, %b, %c eps(0) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
// expected-error @+1 {{statistics: expected none or 2, got 1}}
%0, %1 = weft.layer_norm %a, %b, %c eps(1.0e-5) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
// expected-error @+1 {{result #2: expected 'tensor<2xf32>', got 'tensor<3xf32>'}}
%0, %1, %2 = weft.layer_norm %a, %b, %c eps(1.0e-5) : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>)

// -----

%a, %b, %c, %d, %e = "test.values"() : () -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<3xi32>, tensor<2xf32>, tensor<2xf32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0, %1, %2 = weft.layer_norm_grad %a, %b, %c, %d, %e : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<3xi32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>)

// -----

%a, %b, %c, %d, %e = "test.values"() : () -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
// expected-error @+1 {{expected one or more dimensions, got 'tensor<f32>'}}
%0, %1, %2 = weft.layer_norm_grad %a, %b, %c, %d, %e : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)

// -----

%a, %b, %c, %d, %e = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<2xf32>)
// expected-error @+1 {{input: expected 'tensor<2x3xf32>', got 'tensor<3xf32>'}}
%0, %1, %2 = weft.layer_norm_grad %a, %b, %c, %d, %e : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)

// -----

%a, %b, %c, %d, %e = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
// expected-error @+1 {{weight: expected 'tensor<3xf32>', got 'tensor<2xf32>'}}
%0, %1, %2 = weft.layer_norm_grad %a, %b, %c, %d, %e : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)

// -----

%a, %b, %c, %d, %e = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>)
// expected-error @+1 {{mean: expected 'tensor<2xf32>', got 'tensor<3xf32>'}}
%0, %1, %2 = weft.layer_norm_grad %a, %b, %c, %d, %e : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)

// -----

%a, %b, %c, %d, %e = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>)
// expected-error @+1 {{rstd: expected 'tensor<2xf32>', got 'tensor<3xf32>'}}
%0, %1, %2 = weft.layer_norm_grad %a, %b, %c, %d, %e : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi32>, tensor<3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.rms_norm %a, %b eps(1.0e-6) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>

// -----

%a, %b = "test.values"() : () -> (tensor<f32>, tensor<f32>)
// expected-error @+1 {{expected one or more dimensions, got 'tensor<f32>'}}
%0 = weft.rms_norm %a, %b eps(1.0e-6) : (tensor<f32>, tensor<f32>) -> tensor<f32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{weight: expected 'tensor<3xf32>', got 'tensor<2xf32>'}}
%0 = weft.rms_norm %a, %b eps(1.0e-6) : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{eps: expected a positive number, got -1}}
%0 = weft.rms_norm %a, %b eps(-1.0) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{statistics: expected none or 1, got 2}}
%0, %1, %2 = weft.rms_norm %a, %b eps(1.0e-6) : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)

// -----

%a, %b, %c, %d = "test.values"() : () -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<3xi32>, tensor<2xf32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0, %1 = weft.rms_norm_grad %a, %b, %c, %d : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<3xi32>, tensor<2xf32>) -> (tensor<2x3xi32>, tensor<3xi32>)

// -----

%a, %b, %c, %d = "test.values"() : () -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
// expected-error @+1 {{expected one or more dimensions, got 'tensor<f32>'}}
%0, %1 = weft.rms_norm_grad %a, %b, %c, %d : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)

// -----

%a, %b, %c, %d = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>)
// expected-error @+1 {{input: expected 'tensor<2x3xf32>', got 'tensor<3xf32>'}}
%0, %1 = weft.rms_norm_grad %a, %b, %c, %d : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)

// -----

%a, %b, %c, %d = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
// expected-error @+1 {{weight: expected 'tensor<3xf32>', got 'tensor<2xf32>'}}
%0, %1 = weft.rms_norm_grad %a, %b, %c, %d : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)

// -----

%a, %b, %c, %d = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
// expected-error @+1 {{rstd: expected 'tensor<2xf32>', got 'tensor<3xf32>'}}
%0, %1 = weft.rms_norm_grad %a, %b, %c, %d : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
