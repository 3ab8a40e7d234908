// RUN: weft-opt %s | weft-opt | FileCheck %s

// Before elaborate.
// CHECK: weft.fill [batch] value(3){{ *$}}
%0 = weft.fill [batch] value(3)
// CHECK: weft.fill [batch] value(2 * n) to i32{{ *$}}
%1 = weft.fill [batch] value(2 * n) to i32
// CHECK: weft.iota [batch, seq] dim(1){{ *$}}
%2 = weft.iota [batch, seq] dim(1)
// CHECK: weft.iota [seq] dim(d) to f32{{ *$}}
%3 = weft.iota [seq] dim(d) to f32
// CHECK: weft.constant [3] values [4.850000e-01, n, -1]{{ *$}}
%4 = weft.constant [3] values [0.485, n, -1]
// CHECK: weft.constant [2] values [1, 2] to i64{{ *$}}
%5 = weft.constant [2] values [1, 2] to i64

// CHECK-LABEL: weft.graph @typed
weft.graph @typed() placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: weft.fill [] value(5.000000e-01) : () -> tensor<f32>
  %6 = weft.fill [] value(0.5) : () -> tensor<f32>
  // CHECK: weft.fill [2] value(255) to i8 : () -> tensor<2xi8>
  %7 = weft.fill [2] value(255) to i8 : () -> tensor<2xi8>
  // CHECK: weft.iota [2, 3] dim(1) : () -> tensor<2x3xi32>
  %8 = weft.iota [2, 3] dim(1) : () -> tensor<2x3xi32>
  // CHECK: weft.iota [2] dim(0) to i64 : () -> tensor<2xi64>
  %9 = weft.iota [2] dim(0) to i64 : () -> tensor<2xi64>
  // CHECK: weft.constant [1, 2] values [1, 2.500000e+00] : () -> tensor<1x2xf32>
  %10 = weft.constant [1, 2] values [1, 2.5] : () -> tensor<1x2xf32>
  // CHECK: weft.constant [] values [7] to i32 : () -> tensor<i32>
  %11 = weft.constant [] values [7] to i32 : () -> tensor<i32>
}
