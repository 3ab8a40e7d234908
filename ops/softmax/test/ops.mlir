// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x, %dy = "test.values"() : () -> (!weft.any, !weft.any)
// CHECK: weft.softmax %0#0{{ *$}}
// CHECK-NEXT: weft.softmax_grad %0#1, %1{{ *$}}
%0 = weft.softmax %x
%1 = weft.softmax_grad %dy, %0

%z, %dw = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK: weft.softmax %3#0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.softmax_grad %3#1, %4 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
%2 = weft.softmax %z : (tensor<2x3xf32>) -> tensor<2x3xf32>
%3 = weft.softmax_grad %dw, %2 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
