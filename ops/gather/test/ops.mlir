// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: %[[V:.*]]:5 = "test.values"
%a, %b, %x, %i, %u = "test.values"() : () -> (!weft.any, !weft.any, tensor<2x6x3xf32>, tensor<2x4xi32>, tensor<2x4x3xf32>)
// CHECK-NEXT: weft.take %[[V]]#0, %[[V]]#1 dim(d) batch(k){{ *$}}
%0 = weft.take %a, %b dim(d) batch(k)
// CHECK-NEXT: weft.take %[[V]]#0, %[[V]]#1 dim(0) last{{ *$}}
%1 = weft.take %a, %b dim(0) last
// CHECK-NEXT: weft.scatter_add %[[V]]#0, %[[V]]#1 dim(0) size(2 * n){{ *$}}
%2 = weft.scatter_add %a, %b dim(0) size(2 * n)
// CHECK-NEXT: weft.scatter_set %[[V]]#0, %[[V]]#1, %[[V]]#0 dim(0){{ *$}}
%3 = weft.scatter_set %a, %b, %a dim(0)
// CHECK-NEXT: weft.take %[[V]]#2, %[[V]]#3 dim(1) batch(1) : (tensor<2x6x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>
%4 = weft.take %x, %i dim(1) batch(1) : (tensor<2x6x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>
// CHECK-NEXT: weft.take %[[V]]#2, %[[V]]#3 dim(1) : (tensor<2x6x3xf32>, tensor<2x4xi32>) -> tensor<2x2x4x3xf32>
%5 = weft.take %x, %i dim(1) : (tensor<2x6x3xf32>, tensor<2x4xi32>) -> tensor<2x2x4x3xf32>
// CHECK-NEXT: weft.scatter_add %[[V]]#4, %[[V]]#3 dim(1) size(6) batch(1) : (tensor<2x4x3xf32>, tensor<2x4xi32>) -> tensor<2x6x3xf32>
%6 = weft.scatter_add %u, %i dim(1) size(6) batch(1) : (tensor<2x4x3xf32>, tensor<2x4xi32>) -> tensor<2x6x3xf32>
// CHECK-NEXT: weft.scatter_add %[[V]]#4, %[[V]]#3 dim(0) size(5) : (tensor<2x4x3xf32>, tensor<2x4xi32>) -> tensor<5x3xf32>
%7 = weft.scatter_add %u, %i dim(0) size(5) : (tensor<2x4x3xf32>, tensor<2x4xi32>) -> tensor<5x3xf32>
// CHECK-NEXT: weft.scatter_set %[[V]]#2, %[[V]]#3, %[[V]]#4 dim(1) batch(1) :
%8 = weft.scatter_set %x, %i, %u dim(1) batch(1) : (tensor<2x6x3xf32>, tensor<2x4xi32>, tensor<2x4x3xf32>) -> tensor<2x6x3xf32>
