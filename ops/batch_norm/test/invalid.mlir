// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

!s = tensor<3xf32>
%x, %w = "test.values"() : () -> (tensor<2x3xi32>, !s)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0, %1, %2 = weft.batch_norm %x, %w, %w over [0] eps(1.0e-5) : (tensor<2x3xi32>, !s, !s) -> (tensor<2x3xi32>, !s, !s)

// -----

!s = tensor<3xf32>
%x, %w = "test.values"() : () -> (tensor<2x3xf32>, !s)
// expected-error @+1 {{dims: expected 0 or more and less than 2, got 2}}
%0, %1, %2 = weft.batch_norm %x, %w, %w over [2] eps(1.0e-5) : (tensor<2x3xf32>, !s, !s) -> (tensor<2x3xf32>, !s, !s)

// -----

!s = tensor<3xf32>
%x, %w = "test.values"() : () -> (tensor<2x3xf32>, !s)
// expected-error @+1 {{dims: expected distinct dimensions, got 0 twice}}
%0, %1, %2 = weft.batch_norm %x, %w, %w over [0, 0] eps(1.0e-5) : (tensor<2x3xf32>, !s, !s) -> (tensor<2x3xf32>, !s, !s)

// -----

!s = tensor<3xf32>
%x, %w = "test.values"() : () -> (tensor<2x3xf32>, !s)
// expected-error @+1 {{dims: expected one or more and not all of the 2 dimensions, got 2}}
%0 = weft.batch_variance %x, %w over [0, 1] : (tensor<2x3xf32>, !s) -> !s

// -----

!s = tensor<3xf32>
%x, %w, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>, !s)
// expected-error @+1 {{weight: expected 'tensor<3xf32>', got 'tensor<2xf32>'}}
%0, %1, %2 = weft.batch_norm %x, %w, %b over [0] eps(1.0e-5) : (tensor<2x3xf32>, tensor<2xf32>, !s) -> (tensor<2x3xf32>, !s, !s)

// -----

!s = tensor<3xf32>
%x, %w, %b = "test.values"() : () -> (tensor<2x3xf32>, !s, tensor<3xbf16>)
// expected-error @+1 {{bias: expected 'tensor<3xf32>', got 'tensor<3xbf16>'}}
%0, %1, %2 = weft.batch_norm %x, %w, %b over [0] eps(1.0e-5) : (tensor<2x3xf32>, !s, tensor<3xbf16>) -> (tensor<2x3xf32>, !s, !s)

// -----

!s = tensor<3xf32>
%x, %w = "test.values"() : () -> (tensor<2x3xf32>, !s)
// expected-error @+1 {{eps: expected a positive number, got 0}}
%0, %1, %2 = weft.batch_norm %x, %w, %w over [0] eps(0.0) : (tensor<2x3xf32>, !s, !s) -> (tensor<2x3xf32>, !s, !s)

// -----

!s = tensor<3xf32>
%x, %w, %m = "test.values"() : () -> (tensor<2x3xf32>, !s, tensor<2xf32>)
// expected-error @+1 {{mean: expected 'tensor<3xf32>', got 'tensor<2xf32>'}}
%0 = weft.batch_norm_apply %x, %m, %w, %w, %w over [0] eps(1.0e-5) : (tensor<2x3xf32>, tensor<2xf32>, !s, !s, !s) -> tensor<2x3xf32>

// -----

!s = tensor<3xf32>
%x, %dy, %m = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>, !s)
// expected-error @+1 {{input: expected 'tensor<2x3xbf16>', got 'tensor<2x3xf32>'}}
%0, %1 = weft.batch_norm_sums %dy, %x, %m, %m over [0] eps(1.0e-5) : (tensor<2x3xbf16>, tensor<2x3xf32>, !s, !s) -> (!s, !s)

// -----

!s = tensor<3xf32>
%x, %m, %sum = "test.values"() : () -> (tensor<2x3xf32>, !s, tensor<2xf32>)
// expected-error @+1 {{dyn_sum: expected 'tensor<3xf32>', got 'tensor<2xf32>'}}
%0 = weft.batch_norm_grad %x, %x, %m, %m, %m, %m, %sum over [0] eps(1.0e-5) : (tensor<2x3xf32>, tensor<2x3xf32>, !s, !s, !s, !s, tensor<2xf32>) -> tensor<2x3xf32>
