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

// -----

// expected-error @+1 {{shape: expected positive extents, got 0}}
%0 = weft.fill [0] value(1) : () -> tensor<0xf32>

// -----

// expected-error @+1 {{result #0: expected 'tensor<4xf32>', got 'tensor<4xbf16>'}}
%0 = weft.fill [4] value(1) : () -> tensor<4xbf16>

// -----

// expected-error @+1 {{expected a number or a name}}
%0 = weft.fill [4] value("one") : () -> tensor<4xf32>
