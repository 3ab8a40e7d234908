// RUN: weft-opt %s -allow-unregistered-dialect | weft-opt -allow-unregistered-dialect | FileCheck %s

%x, %w, %b = "test.values"() : () -> (!weft.any, !weft.any, !weft.any)
// CHECK: weft.layer_norm %0#0, %0#1, %0#2 eps(1.000000e-05){{ *$}}
// CHECK-NEXT: weft.rms_norm %0#0, %0#1 eps(epsilon){{ *$}}
%0 = weft.layer_norm %x, %w, %b eps(1.0e-5)
%1 = weft.rms_norm %x, %w eps(epsilon)

!x = tensor<2x4x3xf32>
!w = tensor<3xf32>
!s = tensor<2x4xf32>
%z, %v, %c, %dy = "test.values"() : () -> (!x, !w, !w, !x)
// CHECK: weft.layer_norm %1#0, %1#1, %1#2 eps(1.000000e-05) : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>{{$}}
// CHECK-NEXT: %{{.*}}, [[STATISTICS:%.*]]:2 = weft.layer_norm %1#0, %1#1, %1#2 eps(1.000000e-05) : (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-NEXT: weft.layer_norm_grad %1#3, %1#0, %1#1, [[STATISTICS]]#0, [[STATISTICS]]#1 : (tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<3xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4x3xf32>, tensor<3xf32>, tensor<3xf32>)
// CHECK-NEXT: weft.rms_norm %1#0, %1#1 eps(1.000000e-05) : (tensor<2x4x3xf32>, tensor<3xf32>) -> tensor<2x4x3xf32>{{$}}
// CHECK-NEXT: %{{.*}}, [[RSTD:%.*]] = weft.rms_norm %1#0, %1#1 eps(1.000000e-05) : (tensor<2x4x3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<2x4xf32>)
// CHECK-NEXT: weft.rms_norm_grad %1#3, %1#0, %1#1, [[RSTD]] : (tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<3xf32>, tensor<2x4xf32>) -> (tensor<2x4x3xf32>, tensor<3xf32>)
%2 = weft.layer_norm %z, %v, %c eps(1.0e-5) : (!x, !w, !w) -> !x
%3, %mean, %rstd = weft.layer_norm %z, %v, %c eps(1.0e-5) : (!x, !w, !w) -> (!x, !s, !s)
%4, %5, %6 = weft.layer_norm_grad %dy, %z, %v, %mean, %rstd : (!x, !x, !w, !s, !s) -> (!x, !w, !w)
%7 = weft.rms_norm %z, %v eps(1.0e-5) : (!x, !w) -> !x
%8, %rms = weft.rms_norm %z, %v eps(1.0e-5) : (!x, !w) -> (!x, !s)
%9, %10 = weft.rms_norm_grad %dy, %z, %v, %rms : (!x, !x, !w, !s) -> (!x, !w)
