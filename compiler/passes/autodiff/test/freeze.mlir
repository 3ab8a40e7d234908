// Readers of a frozen parameter read a stop_gradient; what follows trains the others.
// RUN: weft-opt %s --weft-autodiff-freeze="frozen=h[.]0[.].*" | FileCheck %s
// RUN: weft-opt %s --weft-autodiff-freeze="frozen=h[.]0[.].*" --weft-autodiff --weft-autodiff-optimizer="rule=adamw numbers=eps=1e-8" --weft-autodiff-decompose --weft-autodiff-prune | FileCheck %s --check-prefix=TRAINED
// RUN: not weft-opt %s --weft-autodiff-freeze="frozen=h[.]0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --weft-autodiff-freeze="frozen=*h" 2>&1 | FileCheck %s --check-prefix=INVALID
// RUN: not weft-opt %s --weft-autodiff-freeze="frozen=.*" --weft-autodiff 2>&1 | FileCheck %s --check-prefix=ALL

// The whole name is meant, and a state of the model is no parameter that could be frozen.
// NONE: optimizer.frozen: expected a regular expression that fits a trained parameter, got h[.]0, which fits none; the first of 2 is h.0.w
// INVALID: optimizer.frozen: expected a regular expression, got *h: repetition-operator operand invalid
// ALL: expected a loss that depends on a parameter

// CHECK: %[[W:.*]] = weft.parameter "h.0.w"
// CHECK-NEXT: %[[STOP:.*]] = weft.stop_gradient %[[W]] {scope = "h.0"}
// CHECK: %[[V:.*]] = weft.parameter "h.1.w"
// CHECK-NOT: stop_gradient
// CHECK: weft.mul %arg0, %[[STOP]]
// CHECK: weft.mul %{{.*}}, %[[V]]

// TRAINED: %[[W:.*]] = weft.parameter "h.0.w"
// TRAINED-NEXT: weft.parameter "h.0.mean"
// TRAINED-NEXT: weft.parameter "h.1.w"
// TRAINED-NEXT: weft.parameter "adam_v.h.1.w"
// TRAINED-NEXT: weft.parameter "adam_m.h.1.w"
// TRAINED-NEXT: weft.mul %arg0, %[[W]]
// TRAINED: weft.square_sum
// TRAINED-NOT: weft.square_sum
// TRAINED: weft.adam
// TRAINED-NOT: weft.adam
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @train("x" %x: tensor<4xf32>) placements [#mesh] {
  %w = weft.parameter "h.0.w" [4] init(ones) {scope = "h.0"} : () -> tensor<4xf32>
  %m = weft.parameter "h.0.mean" [4] init(ones) state {scope = "h.0"} : () -> tensor<4xf32>
  %v = weft.parameter "h.1.w" [4] init(ones) {scope = "h.1"} : () -> tensor<4xf32>
  %0 = weft.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.add %0, %m : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.mul %1, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = weft.reduce mean %2 over [0] : (tensor<4xf32>) -> tensor<f32>
  weft.minimize %3 : (tensor<f32>)
}
