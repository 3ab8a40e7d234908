// RUN: weft-opt %s -split-input-file -verify-diagnostics | weft-opt -split-input-file | FileCheck %s

// CHECK: weft.parameter "weight" [hidden, 3, heads, hidden floordiv heads] stored [hidden, 3 * hidden] init(normal 2.000000e-02) sbp(tensor = S(2))
%0 = weft.parameter "weight" [hidden, 3, heads, hidden floordiv heads] stored [hidden, 3 * hidden] init(normal 0.02) sbp(tensor = S(2))

// -----

// expected-error @+1 {{shape: expected positive extents, got 0}}
%0 = weft.parameter "weight" [4, 0] init(zeros) : () -> tensor<4x0xf32>
