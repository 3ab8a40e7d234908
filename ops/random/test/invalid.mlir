// RUN: weft-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{shape: expected positive extents, got 0}}
%0 = weft.random_normal [4, 0] mean(0) std(1) : () -> tensor<4x0xf32>

// -----

// expected-error @+1 {{shape: expected at most 281474976710656 elements, got more}}
%0 = weft.random_uniform [4294967296, 4294967296] low(0) high(1) : () -> tensor<4294967296x4294967296xf32>

// -----

// expected-error @+1 {{std: expected at least 0, got -1.000000e+00}}
%0 = weft.random_normal [4] mean(0) std(-1) : () -> tensor<4xf32>

// -----

// expected-error @+1 {{shape: expected positive extents, got -4}}
%0 = weft.random_uniform [-4] low(0) high(1) : () -> tensor<4xf32>

// -----

// expected-error @+1 {{low: expected at most 1.000000e+00, got 2.000000e+00}}
%0 = weft.random_uniform [4] low(2) high(1) : () -> tensor<4xf32>
