// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x, %p = "test.values"() : () -> (!weft.any, !weft.any)
// CHECK: weft.rope %0#0 theta(1.000000e+04){{ *$}}
// CHECK-NEXT: weft.rope %0#0 at(%0#1) theta(1.000000e+04) interleaved inverse{{ *$}}
// CHECK-NEXT: weft.rope %0#0 theta(5.000000e+05) factor(8.000000e+00) low(1.000000e+00) high(4.000000e+00) original(8192){{ *$}}
%0 = weft.rope %x theta(10000.0)
%1 = weft.rope %x at(%p) theta(10000.0) interleaved inverse
%2 = weft.rope %x theta(500000.0) factor(8.0) low(1.0) high(4.0) original(8192)

%y, %q = "test.values"() : () -> (tensor<2x3x4x6xf32>, tensor<2x3xi32>)
// CHECK: weft.rope %4#0 theta(1.000000e+04) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
// CHECK-NEXT: weft.rope %4#0 at(%4#1) theta(1.000000e+04) : (tensor<2x3x4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x4x6xf32>
%3 = weft.rope %y theta(10000.0) : (tensor<2x3x4x6xf32>) -> tensor<2x3x4x6xf32>
%4 = weft.rope %y at(%q) theta(10000.0) : (tensor<2x3x4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x4x6xf32>
