// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: %[[V:.*]]:2 = "test.values"
%a, %x = "test.values"() : () -> (!weft.any, tensor<2x3xf32>)
// CHECK-NEXT: weft.cumsum %[[V]]#0 dim(d){{ *$}}
%0 = weft.cumsum %a dim(d)
// CHECK-NEXT: weft.cumsum %[[V]]#0 dim(1) exclusive reverse{{ *$}}
%1 = weft.cumsum %a dim(1) exclusive reverse
// CHECK-NEXT: weft.cumsum %[[V]]#1 dim(0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%2 = weft.cumsum %x dim(0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.cumsum %[[V]]#1 dim(1) exclusive : (tensor<2x3xf32>) -> tensor<2x3xf32>
%3 = weft.cumsum %x dim(1) exclusive : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: weft.cumsum %[[V]]#1 dim(1) reverse : (tensor<2x3xf32>) -> tensor<2x3xf32>
%4 = weft.cumsum %x dim(1) reverse : (tensor<2x3xf32>) -> tensor<2x3xf32>
