// RUN: weft-opt %s --weft-autodiff-decompose=updates | FileCheck %s

// Adam's formula has the number of the step in it. Where nobody gives it, it is the run's, one op for all parameters of a
// stage. What is given stays, and what does not count is not given any.
// CHECK-LABEL: weft.graph @counted
// CHECK: %[[FIRST:.*]] = weft.learning_rate 1.000000e+00 count {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.adam %[[W:.*]], %arg0, %[[M:.*]], %[[M]], %arg1, %arg1 step %[[FIRST]] beta1
// CHECK-NEXT: weft.adam %[[W]], %arg0, %[[M]], %[[M]], %arg1, %arg1 step %[[FIRST]] beta1
// CHECK-NEXT: %[[SECOND:.*]] = weft.learning_rate 1.000000e+00 count {phase = "update", scope = "optimizer", stage = 1 : i64}
// CHECK-NEXT: weft.adam %[[W]], %arg0, %[[M]], %[[M]], %arg1, %arg1 step %[[SECOND]] beta1
// CHECK-NEXT: weft.adam %[[W]], %arg0, %[[M]], %[[M]], %arg1, %arg1 step %arg1 beta1
// CHECK-NEXT: weft.sgd_momentum %[[W]], %arg0, %[[M]], %arg1, %arg1 momentum
#a = #weft.placement<"cpu", [], [0]>
#b = #weft.placement<"cpu", [], [1]>
!t = tensor<4xf32>
!s = tensor<f32>
weft.graph @counted("g" %g: !t, "s" %s: !s) placements [#a, #b] {
  %w = weft.parameter "w" [4] init(zeros) : () -> !t
  %m = weft.parameter "m" [4] init(zeros) state : () -> !t
  %0, %1, %2 = weft.adam %w, %g, %m, %m, %s, %s beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) {phase = "update", scope = "optimizer"} : (!t, !t, !t, !t, !s, !s) -> (!t, !t, !t)
  %3, %4, %5 = weft.adam %w, %g, %m, %m, %s, %s beta1(0.8) beta2(0.95) eps(1.0e-8) weight_decay(0.0) {phase = "update", scope = "optimizer"} : (!t, !t, !t, !t, !s, !s) -> (!t, !t, !t)
  %6, %7, %8 = weft.adam %w, %g, %m, %m, %s, %s beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) {phase = "update", scope = "optimizer", stage = 1 : i64} : (!t, !t, !t, !t, !s, !s) -> (!t, !t, !t)
  %9, %10, %11 = weft.adam %w, %g, %m, %m, %s, %s step %s beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) {phase = "update", scope = "optimizer"} : (!t, !t, !t, !t, !s, !s, !s) -> (!t, !t, !t)
  %12, %13 = weft.sgd_momentum %w, %g, %m, %s, %s momentum(0.9) weight_decay(0.0) {phase = "update", scope = "optimizer"} : (!t, !t, !t, !s, !s) -> (!t, !t)
  weft.output "a" %0 : (!t)
  weft.output "b" %3 : (!t)
  weft.output "c" %6 : (!t)
  weft.output "d" %9 : (!t)
  weft.output "e" %12 : (!t)
}
