// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: %[[V:.*]]:2 = "test.values"
%a, %x = "test.values"() : () -> (!weft.any, tensor<2x3xf32>)
// CHECK-NEXT: weft.sort %[[V]]#0 dim(d){{ *$}}
%0:2 = weft.sort %a dim(d)
// CHECK-NEXT: weft.sort %[[V]]#0 dim(1) descending{{ *$}}
%1:2 = weft.sort %a dim(1) descending
// CHECK-NEXT: weft.top_k %[[V]]#0 k(2 * n) dim(0){{ *$}}
%2:2 = weft.top_k %a k(2 * n) dim(0)
// CHECK-NEXT: weft.sort %[[V]]#1 dim(0) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
%3:2 = weft.sort %x dim(0) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
// CHECK-NEXT: weft.top_k %[[V]]#1 k(2) dim(1) : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
%4:2 = weft.top_k %x k(2) dim(1) : (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
