// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

// CHECK: %[[V:.*]]:5 = "test.values"
%a, %x, %w, %c, %d = "test.values"() : () -> (!weft.any, tensor<2x6x4xbf16>, tensor<3x4x5xbf16>, tensor<2x3xi32>, tensor<2x6x5xbf16>)
// CHECK-NEXT: weft.grouped_matmul %[[V]]#0, %[[V]]#0, %[[V]]#0{{ *$}}
%0 = weft.grouped_matmul %a, %a, %a
// CHECK-NEXT: weft.grouped_matmul %[[V]]#0, %[[V]]#0, %[[V]]#0 transposed to f32{{ *$}}
%1 = weft.grouped_matmul %a, %a, %a transposed to f32
// CHECK-NEXT: weft.grouped_outer %[[V]]#0, %[[V]]#0, %[[V]]#0 groups(2 * e){{ *$}}
%2 = weft.grouped_outer %a, %a, %a groups(2 * e)
// CHECK-NEXT: weft.grouped_matmul %[[V]]#1, %[[V]]#2, %[[V]]#3 to f32 : (tensor<2x6x4xbf16>, tensor<3x4x5xbf16>, tensor<2x3xi32>) -> tensor<2x6x5xf32>
%3 = weft.grouped_matmul %x, %w, %c to f32 : (tensor<2x6x4xbf16>, tensor<3x4x5xbf16>, tensor<2x3xi32>) -> tensor<2x6x5xf32>
// CHECK-NEXT: weft.grouped_matmul %[[V]]#4, %[[V]]#2, %[[V]]#3 transposed : (tensor<2x6x5xbf16>, tensor<3x4x5xbf16>, tensor<2x3xi32>) -> tensor<2x6x4xbf16>
%4 = weft.grouped_matmul %d, %w, %c transposed : (tensor<2x6x5xbf16>, tensor<3x4x5xbf16>, tensor<2x3xi32>) -> tensor<2x6x4xbf16>
// CHECK-NEXT: weft.grouped_outer %[[V]]#1, %[[V]]#4, %[[V]]#3 groups(3) : (tensor<2x6x4xbf16>, tensor<2x6x5xbf16>, tensor<2x3xi32>) -> tensor<3x4x5xbf16>
%5 = weft.grouped_outer %x, %d, %c groups(3) : (tensor<2x6x4xbf16>, tensor<2x6x5xbf16>, tensor<2x3xi32>) -> tensor<3x4x5xbf16>
