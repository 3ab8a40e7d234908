// A call whose parameters are moving averages of another's.
// RUN: weft-opt %s --weft-elaborate-config --weft-elaborate-instantiate | FileCheck %s

model.layer @fc(%x) {
  %w = weft.parameter "weight" [2, 2] init(normal 0.5) sbp(tensor = S(0))
  %r = weft.parameter "running" [2] init(zeros) state
  %y = weft.einsum "bi,io->bo" %x, %w
  %z = weft.add %y, %r
  model.return %z
}
model.layer @two(%x) {
  %0 = model.repeat 2 "h" @fc(%x)
  model.return %0
}

// What is state in the layer stays so, and is the model's. CHECK lines of the second copy are like those of the first.
// CHECK:      %[[A:.*]] = weft.parameter "base.h.0.weight" [2, 2] init(normal 5.000000e-01) sbp(tensor = S(0)) {scope = "base.h.0", seed = [[SEED:.*]] : i64}
// CHECK-NEXT: weft.parameter "base.h.0.running" [2] init(zeros) state {of_model, scope = "base.h.0"
// CHECK:      weft.parameter "base.h.1.weight"
// CHECK:      %[[OWN:.*]] = weft.parameter "slow.h.0.weight" [2, 2] init(normal 5.000000e-01) sbp(tensor = S(0)) state {of_model, scope = "slow.h.0", seed = [[SEED]] : i64}
// CHECK-NEXT: %[[N:.*]] = weft.neg %m {scope = "slow.h.0"}
// CHECK-NEXT: %[[REST:.*]] = weft.add_scalar %[[N]] by(1.000000e+00) {scope = "slow.h.0"}
// CHECK-NEXT: %[[STILL:.*]] = weft.stop_gradient %[[A]] {scope = "slow.h.0"}
// CHECK-NEXT: %[[KEPT:.*]] = weft.mul %[[OWN]], %m {scope = "slow.h.0"}
// CHECK-NEXT: %[[ADDED:.*]] = weft.mul %[[STILL]], %[[REST]] {scope = "slow.h.0"}
// CHECK-NEXT: %[[NEXT:.*]] = weft.add %[[KEPT]], %[[ADDED]] {scope = "slow.h.0"}
// CHECK-NEXT: weft.assign %[[OWN]], %[[NEXT]] {scope = "slow.h.0"}
// CHECK-NEXT: weft.parameter "slow.h.0.running" [2] init(zeros) state {of_model, scope = "slow.h.0"
// CHECK-NEXT: weft.einsum "bi,io->bo" %x, %[[NEXT]] {scope = "slow.h.0"}
// CHECK:      %[[OWN1:.*]] = weft.parameter "slow.h.1.weight"
// CHECK-NEXT: weft.stop_gradient
// CHECK-NEXT: weft.mul %[[OWN1]], %m
// CHECK-NEXT: weft.mul %{{.*}}, %[[REST]]
model.graph @g(%x [2, 2] f32, %m [] f32) {
  %0 = model.call @two "base" (%x)
  %1 = model.call @two "slow" (%x) averages "base" momentum(%m)
  weft.output "y" %1
}
