// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%x, %i = "test.values"() : () -> (tensor<2x3xf32>, tensor<4xf32>)
// expected-error @+1 {{ids: expected the element type i32 or i64, got 'f32'}}
%0 = weft.take %x, %i dim(0) : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<4x3xf32>

// -----

%x, %i = "test.values"() : () -> (tensor<2x3xi8>, tensor<4xi32>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i8'}}
%0 = weft.take %x, %i dim(0) : (tensor<2x3xi8>, tensor<4xi32>) -> tensor<4x3xi8>

// -----

%x, %i = "test.values"() : () -> (tensor<2x3xf32>, tensor<4xi32>)
// expected-error @+1 {{dim: expected 0 or more and less than 2, got 2}}
%0 = weft.take %x, %i dim(2) : (tensor<2x3xf32>, tensor<4xi32>) -> tensor<2x4xf32>

// -----

%x, %i = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x4xi32>)
// expected-error @+1 {{batch: expected 0 or more and less than 1, got 1}}
%0 = weft.take %x, %i dim(0) batch(1) : (tensor<2x3xf32>, tensor<2x4xi32>) -> tensor<4x3xf32>

// -----

%x, %i = "test.values"() : () -> (tensor<2x3xf32>, tensor<5x4xi32>)
// expected-error @+1 {{ids: expected the first 1 extents of 'tensor<2x3xf32>', got 'tensor<5x4xi32>'}}
%0 = weft.take %x, %i dim(1) batch(1) : (tensor<2x3xf32>, tensor<5x4xi32>) -> tensor<2x4xf32>

// -----

%u, %i = "test.values"() : () -> (tensor<5x3xf32>, tensor<4xi32>)
// expected-error @+1 {{updates: expected the extents of the ids from dimension 0 on, got 'tensor<5x3xf32>' for 'tensor<4xi32>'}}
%0 = weft.scatter_add %u, %i dim(0) size(9) : (tensor<5x3xf32>, tensor<4xi32>) -> tensor<9x3xf32>

// -----

%u, %i = "test.values"() : () -> (tensor<4x3xf32>, tensor<4xi32>)
// expected-error @+1 {{dim: expected 0 or more and less than 3, got -1}}
%0 = weft.scatter_add %u, %i dim(-1) size(9) : (tensor<4x3xf32>, tensor<4xi32>) -> tensor<9x3xf32>

// -----

%u, %i = "test.values"() : () -> (tensor<4x3xf32>, tensor<4xi32>)
// expected-error @+1 {{size: expected a positive number, got 0}}
%0 = weft.scatter_add %u, %i dim(0) size(0) : (tensor<4x3xf32>, tensor<4xi32>) -> tensor<0x3xf32>

// -----

%x, %i, %u = "test.values"() : () -> (tensor<9x3xf32>, tensor<4xi32>, tensor<5x3xf32>)
// expected-error @+1 {{updates: expected 'tensor<4x3xf32>', got 'tensor<5x3xf32>'}}
%0 = weft.scatter_set %x, %i, %u dim(0) : (tensor<9x3xf32>, tensor<4xi32>, tensor<5x3xf32>) -> tensor<9x3xf32>
