// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x, %y, %w = "test.values"() : () -> (!weft.any, !weft.any, !weft.any)
// CHECK: weft.unfold %0#0 dim(1) size [3, 3]{{ *$}}
// CHECK-NEXT: weft.unfold %0#0 dim(1) size [kernel, 3] stride [2, 2] padding [1, 1] padding_after [0, 0] dilation [1, 2]{{ *$}}
// CHECK-NEXT: weft.fold %0#0 dim(1) size [3] extents [28] stride [2]{{ *$}}
// CHECK-NEXT: weft.max_pool %0#0 dim(2) size [2, 2] stride [2, 2]{{ *$}}
// CHECK-NEXT: weft.max_pool_grad %0#1, %0#0, %0#1 dim(2) size [2, 2] stride [2, 2]{{ *$}}
// CHECK-NEXT: weft.depthwise_conv %0#0, %0#2 padding [3, 3]{{ *$}}
// CHECK-NEXT: weft.depthwise_conv_grad_input %0#1, %0#2 extents [28, 28] padding [3, 3]{{ *$}}
// CHECK-NEXT: weft.depthwise_conv_grad_weight %0#0, %0#1 size [7, 7] padding [3, 3]{{ *$}}
%0 = weft.unfold %x dim(1) size [3, 3]
%1 = weft.unfold %x dim(1) size [kernel, 3] stride [2, 2] padding [1, 1] padding_after [0, 0] dilation [1, 2]
%2 = weft.fold %x dim(1) size [3] extents [28] stride [2]
%3 = weft.max_pool %x dim(2) size [2, 2] stride [2, 2]
%4 = weft.max_pool_grad %y, %x, %y dim(2) size [2, 2] stride [2, 2]
%5 = weft.depthwise_conv %x, %w padding [3, 3]
%6 = weft.depthwise_conv_grad_input %y, %w extents [28, 28] padding [3, 3]
%7 = weft.depthwise_conv_grad_weight %x, %y size [7, 7] padding [3, 3]

%a, %b, %c, %d = "test.values"() : () -> (tensor<2x5x6x8xf32>, tensor<2x3x6x3x2x8xf32>, tensor<3x2x8xf32>, tensor<2x3x6x8xf32>)
// CHECK: weft.unfold %9#0 dim(1) size [3, 2] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x5x6x8xf32>) -> tensor<2x3x6x3x2x8xf32>
%8 = weft.unfold %a dim(1) size [3, 2] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x5x6x8xf32>) -> tensor<2x3x6x3x2x8xf32>
// CHECK: weft.fold %9#1 dim(1) size [3, 2] extents [5, 6] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x3x6x3x2x8xf32>) -> tensor<2x5x6x8xf32>
%9 = weft.fold %b dim(1) size [3, 2] extents [5, 6] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x3x6x3x2x8xf32>) -> tensor<2x5x6x8xf32>
// CHECK: weft.max_pool %9#0 dim(1) size [3, 2] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x5x6x8xf32>) -> tensor<2x3x6x8xf32>
%10 = weft.max_pool %a dim(1) size [3, 2] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x5x6x8xf32>) -> tensor<2x3x6x8xf32>
// CHECK: weft.max_pool_grad %9#3, %9#0, %9#3 dim(1) size [3, 2] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x3x6x8xf32>, tensor<2x5x6x8xf32>, tensor<2x3x6x8xf32>) -> tensor<2x5x6x8xf32>
%11 = weft.max_pool_grad %d, %a, %d dim(1) size [3, 2] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x3x6x8xf32>, tensor<2x5x6x8xf32>, tensor<2x3x6x8xf32>) -> tensor<2x5x6x8xf32>
// CHECK: weft.depthwise_conv %9#0, %9#2 stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x5x6x8xf32>, tensor<3x2x8xf32>) -> tensor<2x3x6x8xf32>
%12 = weft.depthwise_conv %a, %c stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x5x6x8xf32>, tensor<3x2x8xf32>) -> tensor<2x3x6x8xf32>
// CHECK: weft.depthwise_conv_grad_input %9#3, %9#2 extents [5, 6] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x3x6x8xf32>, tensor<3x2x8xf32>) -> tensor<2x5x6x8xf32>
%13 = weft.depthwise_conv_grad_input %d, %c extents [5, 6] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x3x6x8xf32>, tensor<3x2x8xf32>) -> tensor<2x5x6x8xf32>
// CHECK: weft.depthwise_conv_grad_weight %9#0, %9#3 size [3, 2] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x5x6x8xf32>, tensor<2x3x6x8xf32>) -> tensor<3x2x8xf32>
%14 = weft.depthwise_conv_grad_weight %a, %d size [3, 2] stride [2, 1] padding [1, 1] padding_after [1, 0] : (tensor<2x5x6x8xf32>, tensor<2x3x6x8xf32>) -> tensor<3x2x8xf32>
