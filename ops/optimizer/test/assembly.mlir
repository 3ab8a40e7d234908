// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// Before elaborate.
%p = weft.parameter "p" [hidden] init(zeros)
%s = weft.parameter "s" [] init(zeros)
// CHECK: weft.square_sum %{{.*}}{{ *$}}
%0 = weft.square_sum %p
// CHECK: weft.clip_scale %{{.*}}, %{{.*}} clip_norm(1.000000e+00){{ *$}}
%1, %2 = weft.clip_scale %0, %s clip_norm(1.0)
// CHECK: weft.learning_rate 1.000000e-01 constant{{ *$}}
// GENERIC: "weft.learning_rate"() <{lr = 1.000000e-01 : f64, min_ratio = 0.000000e+00 : f64, schedule = "constant", total = 0 : i64, warmup = 0 : i64}>
%3 = weft.learning_rate 0.1 constant
// CHECK: weft.sgd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} weight_decay(0.000000e+00){{ *$}}
%4 = weft.sgd %p, %p, %3, %1 weight_decay(0.0)
// CHECK: weft.sgd_momentum %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} momentum(9.000000e-01) weight_decay(0.000000e+00){{ *$}}
%5, %6 = weft.sgd_momentum %p, %p, %p, %3, %1 momentum(0.9) weight_decay(0.0)
// CHECK: weft.adam %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} beta1(9.000000e-01) beta2(0.99899999999999999) eps(1.000000e-08) weight_decay(1.000000e-01) decoupled{{ *$}}
%7, %8, %9 = weft.adam %p, %p, %p, %p, %3, %1 beta1(0.9) beta2(0.999) eps(1.0e-8) weight_decay(0.1) decoupled
// CHECK: weft.clip_scale %{{.*}}, %{{.*}} loss_scale %{{.*}} clip_norm(1.000000e+00){{ *$}}
%320, %321 = weft.clip_scale %0, %s loss_scale %s clip_norm(1.0)
// CHECK: weft.loss_scale %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} growth_factor(2.000000e+00) backoff_factor(5.000000e-01) growth_interval(2000) min(1.000000e+00) max(6.400000e+01){{ *$}}
%322, %323, %324, %325 = weft.loss_scale %0, %s, %s, %s growth_factor(2.0) backoff_factor(0.5) growth_interval(2000) min(1.0) max(64.0)
// CHECK: weft.sgd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} step %{{.*}} weight_decay(0.000000e+00){{ *$}}
%326 = weft.sgd %p, %p, %3, %1 step %322 weight_decay(0.0)
// CHECK: weft.learning_rate 1.000000e-01 step factor(5.000000e-01) milestones [3, 7]{{ *$}}
%327 = weft.learning_rate 0.1 step factor(0.5) milestones [3, 7]
// CHECK: weft.learning_rate 1.000000e-01 cosine_restarts warmup(2) period(5) growth(2){{ *$}}
%328 = weft.learning_rate 0.1 cosine_restarts warmup(2) period(5) growth(2)
// CHECK: weft.lion %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} step %{{.*}} beta1(9.000000e-01) beta2(0.98999999999999999) weight_decay(0.000000e+00){{ *$}}
%329, %330 = weft.lion %p, %p, %p, %3, %1 step %322 beta1(0.9) beta2(0.99) weight_decay(0.0)
// CHECK: weft.muon %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} momentum(0.94999999999999996) weight_decay(1.000000e-01) batch(0) rows(1){{ *$}}
%331, %332 = weft.muon %p, %p, %p, %3, %1 momentum(0.95) weight_decay(0.1) batch(0) rows(1)

!p = tensor<4x8xf32>
!s = tensor<f32>
// CHECK-LABEL: weft.graph @typed
weft.graph @typed("p" %tp: !p, "g" %g: !p, "m" %m: !p, "v" %v: !p, "count" %count: !s) placements [#weft.placement<"cpu", [], [0]>] {
  // CHECK: weft.square_sum %{{.*}} : (tensor<4x8xf32>) -> tensor<f32>
  %10 = weft.square_sum %g : (!p) -> !s
  // CHECK: weft.clip_scale %{{.*}}, %{{.*}} clip_norm(0.000000e+00) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %scale, %norm = weft.clip_scale %10, %count clip_norm(0.0) : (!s, !s) -> (!s, !s)
  // CHECK: weft.learning_rate 6.000000e-04 warmup_cosine warmup(700) total(20000) min_ratio(1.000000e-01) : () -> tensor<f32>
  %lr = weft.learning_rate 6.0e-4 warmup_cosine warmup(700) total(20000) min_ratio(0.1) : () -> !s
  // CHECK: weft.learning_rate 6.000000e-04 warmup_linear total(10) : () -> tensor<f32>
  %linear = weft.learning_rate 6.0e-4 warmup_linear total(10) : () -> !s
  // CHECK: weft.sgd {{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  %11 = weft.sgd %tp, %g, %lr, %scale weight_decay(0.0) : (!p, !p, !s, !s) -> !p
  // CHECK: weft.sgd_momentum {{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %12, %13 = weft.sgd_momentum %tp, %g, %v, %lr, %scale momentum(0.9) weight_decay(0.0) : (!p, !p, !p, !s, !s) -> (!p, !p)
  // CHECK: weft.adam {{.*}} weight_decay(0.000000e+00) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %14, %15, %16 = weft.adam %tp, %g, %m, %v, %lr, %scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (!p, !p, !p, !p, !s, !s) -> (!p, !p, !p)
  // CHECK: weft.clip_scale %{{.*}}, %{{.*}} loss_scale %{{.*}} clip_norm(0.000000e+00) : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %17, %18 = weft.clip_scale %10, %count loss_scale %lr clip_norm(0.0) : (!s, !s, !s) -> (!s, !s)
  // CHECK: weft.sgd {{.*}} step {{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4x8xf32>
  %19 = weft.sgd %tp, %g, %lr, %scale step %lr weight_decay(0.0) : (!p, !p, !s, !s, !s) -> !p
  // CHECK: weft.sgd_momentum {{.*}} step {{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  %20, %21 = weft.sgd_momentum %tp, %g, %v, %lr, %scale step %lr momentum(0.9) weight_decay(0.0) : (!p, !p, !p, !s, !s, !s) -> (!p, !p)
  // CHECK: weft.adam {{.*}} step {{.*}} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %22, %23, %24 = weft.adam %tp, %g, %m, %v, %lr, %scale step %lr beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (!p, !p, !p, !p, !s, !s, !s) -> (!p, !p, !p)
}
