// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x, %w, %b = "test.values"() : () -> (!weft.any, !weft.any, !weft.any)
// CHECK: weft.batch_norm %0#0, %0#1, %0#2 over [0] eps(epsilon){{ *$}}
%0, %1, %2 = weft.batch_norm %x, %w, %b over [0] eps(epsilon)

!x = tensor<2x3x4x5xf32>
!s = tensor<3xf32>
%z, %v, %c, %dy = "test.values"() : () -> (!x, !s, !s, !x)
// CHECK: [[Y:%.*]], [[MEAN:%.*]], [[VARIANCE:%.*]] = weft.batch_norm %1#0, %1#1, %1#2 over [0, 2, 3] eps(1.000000e-05) : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK-NEXT: weft.batch_variance %1#0, [[MEAN]] over [0, 2, 3] : (tensor<2x3x4x5xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: weft.batch_norm_apply %1#0, [[MEAN]], [[VARIANCE]], %1#1, %1#2 over [0, 2, 3] eps(1.000000e-05) : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[A:%.*]], [[B:%.*]] = weft.batch_norm_sums %1#3, %1#0, [[MEAN]], [[VARIANCE]] over [0, 2, 3] eps(1.000000e-05) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
// CHECK-NEXT: weft.batch_norm_grad %1#3, %1#0, [[MEAN]], [[VARIANCE]], %1#1, [[A]], [[B]] over [0, 2, 3] eps(1.000000e-05) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
%3, %mean, %variance = weft.batch_norm %z, %v, %c over [0, 2, 3] eps(1.0e-5) : (!x, !s, !s) -> (!x, !s, !s)
%4 = weft.batch_variance %z, %mean over [0, 2, 3] : (!x, !s) -> !s
%5 = weft.batch_norm_apply %z, %mean, %variance, %v, %c over [0, 2, 3] eps(1.0e-5) : (!x, !s, !s, !s, !s) -> !x
%6, %7 = weft.batch_norm_sums %dy, %z, %mean, %variance over [0, 2, 3] eps(1.0e-5) : (!x, !x, !s, !s) -> (!s, !s)
%8 = weft.batch_norm_grad %dy, %z, %mean, %variance, %v, %6, %7 over [0, 2, 3] eps(1.0e-5) : (!x, !x, !s, !s, !s, !s, !s) -> !x

// Statistics of each part of a batch: the weight is of the last dimension that is kept.
// CHECK: weft.batch_norm %{{.*}} over [1] eps(1.000000e-05) : (tensor<2x4x3xbf16>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4x3xbf16>, tensor<2x3xf32>, tensor<2x3xf32>)
%parts = "test.value"() : () -> tensor<2x4x3xbf16>
%9, %10, %11 = weft.batch_norm %parts, %v, %c over [1] eps(1.0e-5) : (tensor<2x4x3xbf16>, !s, !s) -> (tensor<2x4x3xbf16>, tensor<2x3xf32>, tensor<2x3xf32>)
