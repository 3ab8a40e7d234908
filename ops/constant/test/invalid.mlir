// RUN: weft-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{shape: expected positive extents, got 0}}
%0 = weft.fill [0] value(1) : () -> tensor<0xf32>

// -----

// expected-error @+1 {{result #0: expected 'tensor<4xf32>', got 'tensor<4xbf16>'}}
%0 = weft.fill [4] value(1) : () -> tensor<4xbf16>

// -----

// expected-error @+1 {{value: expected a constant, got one}}
%0 = weft.fill [4] value("one") : () -> tensor<4xf32>

// -----

// expected-error @+1 {{element type: expected f32, bf16, f16, i32, i64 or i8, got 'i1'}}
%0 = weft.fill [4] value(1) to i1 : () -> tensor<4xi1>

// -----

// expected-error @+1 {{value: expected an integer, as the element type is 'i32', got 5.000000e-01}}
%0 = weft.fill [4] value(0.5) to i32 : () -> tensor<4xi32>

// -----

// expected-error @+1 {{value: expected 0 to 255, got -1}}
%0 = weft.fill [4] value(-1) to i8 : () -> tensor<4xi8>

// -----

// expected-error @+1 {{value: expected -2147483648 to 2147483647, got 2147483648}}
%0 = weft.fill [4] value(2147483648) to i32 : () -> tensor<4xi32>

// -----

// expected-error @+1 {{shape: expected positive extents, got -4}}
%0 = weft.iota [-4] dim(0) : () -> tensor<4xi32>

// -----

// expected-error @+1 {{dim: expected 0 or more and less than 2, got 2}}
%0 = weft.iota [4, 2] dim(2) : () -> tensor<4x2xi32>

// -----

// expected-error @+1 {{element type: expected i32, i64 or f32, got 'bf16'}}
%0 = weft.iota [4] dim(0) to bf16 : () -> tensor<4xbf16>

// -----

// expected-error @+1 {{shape: expected at most 16777216 along dimension 0 of 'f32', got 16777217}}
%0 = weft.iota [16777217] dim(0) to f32 : () -> tensor<16777217xf32>

// -----

// expected-error @+1 {{shape: expected positive extents, got 0}}
%0 = weft.constant [0] values [] : () -> tensor<0xf32>

// -----

// expected-error @+1 {{values: expected 4, one an element, got 3}}
%0 = weft.constant [2, 2] values [1, 2, 3] : () -> tensor<2x2xf32>

// -----

// expected-error @+1 {{element type: expected f32, bf16, f16, i32, i64 or i8, got 'f64'}}
%0 = weft.constant [1] values [1] to f64 : () -> tensor<1xf64>

// -----

// expected-error @+1 {{values: expected an integer, as the element type is 'i64', got 1.500000e+00}}
%0 = weft.constant [2] values [1, 1.5] to i64 : () -> tensor<2xi64>

// -----

// expected-error @+1 {{values: expected 0 to 255, got 256}}
%0 = weft.constant [2] values [1, 256] to i8 : () -> tensor<2xi8>
