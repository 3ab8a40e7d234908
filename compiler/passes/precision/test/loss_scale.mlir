// RUN: weft-opt %s --weft-precision-loss-scale="initial=1024 growth-interval=5 max=4096" -split-input-file | FileCheck %s
// The scale takes the place of the seed; what clips takes it out; every update gets the step. State and metrics lie where
// the clipping does.
// CHECK-LABEL: weft.graph @scaled
// CHECK: %[[SKIPPED:.*]] = weft.parameter "loss_scale.skipped_steps" [] init(constant 0.000000e+00) state {scope = "optimizer", stage = 1 : i64} : () -> tensor<f32>
// CHECK-NEXT: %[[GOOD:.*]] = weft.parameter "loss_scale.good_steps" [] init(constant 0.000000e+00) state
// CHECK-NEXT: %[[SCALE:.*]] = weft.parameter "loss_scale" [] init(constant 1.024000e+03) state
// CHECK-NOT: loss_seed
// CHECK: weft.mul %{{.*}}, %[[SCALE]] {phase = "backward"}
// CHECK: weft.mul %{{.*}}, %[[SCALE]] {phase = "backward", scope = "second"}
// CHECK: %{{.*}}, %{{.*}} = weft.clip_scale %[[SUM:.*]], %{{.*}} loss_scale %[[SCALE]] clip_norm(1.000000e+00)
// CHECK-NEXT: %[[STEP:.*]], %[[NEXT:.*]], %[[NEXT_GOOD:.*]], %[[NEXT_SKIPPED:.*]] = weft.loss_scale %[[SUM]], %[[SCALE]], %[[GOOD]], %[[SKIPPED]] growth_factor(2.000000e+00) backoff_factor(5.000000e-01) growth_interval(5) min(1.000000e+00) max(4.096000e+03) {phase = "update", scope = "optimizer", stage = 1 : i64}
// CHECK: weft.sgd %{{.*}} step %[[STEP]] weight_decay
// CHECK: weft.sgd_momentum %{{.*}} step %[[STEP]] momentum
// CHECK: weft.adam %{{.*}} step %[[STEP]] beta1
// CHECK: weft.assign %[[SCALE]], %[[NEXT]] {phase = "update", scope = "optimizer", stage = 1 : i64}
// CHECK-NEXT: weft.output "loss_scale" metric %[[NEXT]]
// CHECK-NEXT: weft.assign %[[GOOD]], %[[NEXT_GOOD]]
// CHECK-NEXT: weft.assign %[[SKIPPED]], %[[NEXT_SKIPPED]]
// CHECK-NEXT: weft.output "skipped_steps" metric %[[NEXT_SKIPPED]]
#one = #weft.placement<"cpu", [], [0]>
#two = #weft.placement<"cpu", [], [1]>
!s = tensor<f32>
weft.graph @scaled("x" %x: !s) placements [#one, #two] {
  %w = weft.parameter "w" [] init(zeros) : () -> !s
  %m = weft.parameter "m" [] init(zeros) state : () -> !s
  %one = weft.fill [] value(1.0) {loss_seed} : () -> !s
  %0 = weft.mul %x, %one {phase = "backward"} : (!s, !s) -> !s
  %two = weft.fill [] value(1.0) {loss_seed} : () -> !s
  %8 = weft.mul %0, %two {phase = "backward", scope = "second"} : (!s, !s) -> !s
  %g = weft.accumulate %8 : (!s) -> !s
  %1 = weft.square_sum %g {phase = "update", scope = "optimizer"} : (!s) -> !s
  %scale, %norm = weft.clip_scale %1, %g clip_norm(1.0) {phase = "update", scope = "optimizer", stage = 1 : i64} : (!s, !s) -> (!s, !s)
  %2 = weft.sgd %w, %g, %g, %scale weight_decay(0.0) : (!s, !s, !s, !s) -> !s
  %3, %4 = weft.sgd_momentum %w, %g, %m, %g, %scale momentum(0.9) weight_decay(0.0) : (!s, !s, !s, !s, !s) -> (!s, !s)
  %5, %6, %7 = weft.adam %w, %g, %m, %m, %g, %scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (!s, !s, !s, !s, !s, !s) -> (!s, !s, !s)
}

// -----

// Nothing is minimized.
// CHECK-LABEL: weft.graph @function
// CHECK-NEXT: weft.neg
// CHECK-NEXT: weft.output
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @function("x" %x: tensor<f32>) placements [#one] {
  %0 = weft.neg %x : (tensor<f32>) -> tensor<f32>
  weft.output "y" %0 : (tensor<f32>)
}
