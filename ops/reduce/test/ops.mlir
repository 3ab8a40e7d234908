// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x = "test.value"() : () -> !weft.any
// CHECK: weft.reduce sum %0 over [0, 1]
// CHECK-NEXT: weft.reduce max %0 over [dims] keep_dims
%0 = weft.reduce sum %x over [0, 1]
%1 = weft.reduce max %x over [dims] keep_dims

%y = "test.value"() : () -> tensor<2x3x4xf32>
// CHECK: weft.reduce mean %3 over [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: weft.reduce max %3 over [2, 0] keep_dims : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: weft.reduce sum %3 over [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
%2 = weft.reduce mean %y over [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
%3 = weft.reduce max %y over [2, 0] keep_dims : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
%4 = weft.reduce sum %y over [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
