// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%x = "test.value"() : () -> tensor<4x8xf32>
// expected-error @+1 {{extents: expected 2, one a dimension, got 1}}
%0 = weft.set_padding %x [4] value(0) : (tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

%x = "test.value"() : () -> tensor<4x8xf32>
// expected-error @+1 {{extents: expected 1 to 8 for dimension 1, got 9}}
%0 = weft.set_padding %x [4, 9] value(0) : (tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

%x = "test.value"() : () -> tensor<4x8xf64>
// expected-error @+1 {{element type: expected f32, bf16, f16, i32, i64 or i8, got 'f64'}}
%0 = weft.set_padding %x [4, 8] value(0) : (tensor<4x8xf64>) -> tensor<4x8xf64>

// -----

%x = "test.value"() : () -> tensor<4xi8>
// expected-error @+1 {{value: expected}}
%0 = weft.set_padding %x [4] value(300) : (tensor<4xi8>) -> tensor<4xi8>

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{batch: expected a positive number, got 0}}
%0 = weft.set_padding %x [4] value(0) batch(0) : (tensor<4xf32>) -> tensor<4xf32>

// -----

%x = "test.value"() : () -> tensor<4xf32>
// expected-error @+1 {{along: expected 0 or more and less than 1, got 1}}
%0 = weft.set_padding %x [4] value(0) batch(2) along(1) : (tensor<4xf32>) -> tensor<4xf32>
