// RUN: weft-opt %s --weft-autodiff-optimizer="rule=sgd numbers=momentum=0.9" | FileCheck %s

// What updates a parameter lives on its placement; what all of them share, on the first one.
// CHECK-LABEL: weft.graph @stages
// CHECK: %[[W:.*]] = weft.parameter "w" [4] init(zeros) {stage = 1 : i64}
// CHECK-NEXT: %[[STATE:.*]] = weft.parameter "momentum.w" [4] init(zeros) state {stage = 1 : i64}
// CHECK-NEXT: %[[SQUARES:.*]] = weft.square_sum %arg0 {phase = "update", scope = "optimizer", stage = 1 : i64}
// CHECK-NEXT: %[[SCALE:.*]], %[[NORM:.*]] = weft.clip_scale %[[SQUARES]], %arg1 clip_norm(0.000000e+00) {phase = "update", scope = "optimizer"}
// CHECK-NEXT: %[[LR:.*]] = weft.learning_rate 1.000000e-02 constant {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.output "grad_norm" metric %[[NORM]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: weft.output "lr" metric %[[LR]] {phase = "update", scope = "optimizer"}
// CHECK-NEXT: %[[NEXT:.*]], %[[NEXT_V:.*]] = weft.sgd_momentum %[[W]], %arg0, %[[STATE]], %[[LR]], %[[SCALE]]
// CHECK-SAME: {phase = "update", scope = "optimizer", stage = 1 : i64}
// CHECK-NEXT: weft.assign %[[W]], %[[NEXT]] {phase = "update", scope = "optimizer", stage = 1 : i64}
// CHECK-NEXT: weft.assign %[[STATE]], %[[NEXT_V]] {phase = "update", scope = "optimizer", stage = 1 : i64}
// CHECK-NEXT: }
#a = #weft.placement<"cpu", [], [0]>
#b = #weft.placement<"cpu", [], [1]>
weft.graph @stages("g" %g: tensor<4xf32>, "c" %c: tensor<f32>) placements [#a, #b] {
  %w = weft.parameter "w" [4] init(zeros) {stage = 1 : i64} : () -> tensor<4xf32>
  weft.update %w with %g per %c {stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>)
}
