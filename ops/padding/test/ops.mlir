// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: %[[V:.*]]:2 = "test.values"
%a, %x = "test.values"() : () -> (!weft.any, tensor<4x8xf32>)
// CHECK-NEXT: weft.set_padding %[[V]]#0 [n, vocab] value(0){{ *$}}
%0 = weft.set_padding %a [n, vocab] value(0)
// CHECK-NEXT: weft.set_padding %[[V]]#1 [4, 7] value(-1.500000e+00) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%1 = weft.set_padding %x [4, 7] value(-1.5) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: weft.set_padding %[[V]]#1 [4, 8] value(0) batch(10) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%2 = weft.set_padding %x [4, 8] value(0) batch(10) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: weft.set_padding %[[V]]#1 [4, 8] value(0) batch(16) along(1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
%3 = weft.set_padding %x [4, 8] value(0) batch(16) along(1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
