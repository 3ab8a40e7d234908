// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x, %a, %b = "test.values"() : () -> (!weft.any, !weft.any, !weft.any)
// CHECK: weft.reshape %0#0 [batch, seq, heads, hidden floordiv heads]
// CHECK-NEXT: weft.transpose %0#0 [0, 2, 1]
// CHECK-NEXT: weft.slice %0#0 dim(2) from(n) size(2 * n)
// CHECK-NEXT: weft.pad %0#0 dim(0) before(1) after(0)
// CHECK-NEXT: weft.concat %0#1, %0#2 dim(1)
%0 = weft.reshape %x [batch, seq, heads, hidden floordiv heads]
%1 = weft.transpose %x [0, 2, 1]
%2 = weft.slice %x dim(2) from(n) size(2 * n)
%3 = weft.pad %x dim(0) before(1) after(0)
%4 = weft.concat %a, %b dim(1)

%y, %c, %d = "test.values"() : () -> (tensor<2x3x4xi32>, tensor<2x3xf32>, tensor<2x5xf32>)
// CHECK: weft.reshape %6#0 [6, 4] : (tensor<2x3x4xi32>) -> tensor<6x4xi32>
// CHECK-NEXT: weft.transpose %6#0 [0, 2, 1] : (tensor<2x3x4xi32>) -> tensor<2x4x3xi32>
// CHECK-NEXT: weft.slice %6#0 dim(2) from(1) size(2) : (tensor<2x3x4xi32>) -> tensor<2x3x2xi32>
// CHECK-NEXT: weft.pad %6#0 dim(0) before(1) after(0) : (tensor<2x3x4xi32>) -> tensor<3x3x4xi32>
// CHECK-NEXT: weft.concat %6#1, %6#2 dim(1) : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
%5 = weft.reshape %y [6, 4] : (tensor<2x3x4xi32>) -> tensor<6x4xi32>
%6 = weft.transpose %y [0, 2, 1] : (tensor<2x3x4xi32>) -> tensor<2x4x3xi32>
%7 = weft.slice %y dim(2) from(1) size(2) : (tensor<2x3x4xi32>) -> tensor<2x3x2xi32>
%8 = weft.pad %y dim(0) before(1) after(0) : (tensor<2x3x4xi32>) -> tensor<3x3x4xi32>
%9 = weft.concat %c, %d dim(1) : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>

// Dimensions of 1 come and go.
%u = "test.value"() : () -> tensor<1x1xf32>
// CHECK: weft.reshape %{{.*}} [] : (tensor<1x1xf32>) -> tensor<f32>
// CHECK-NEXT: weft.reshape %{{.*}} [1, 1, 1] : (tensor<f32>) -> tensor<1x1x1xf32>
%10 = weft.reshape %u [] : (tensor<1x1xf32>) -> tensor<f32>
%11 = weft.reshape %10 [1, 1, 1] : (tensor<f32>) -> tensor<1x1x1xf32>
