// RUN: weft-opt %s --weft-autodiff --weft-autodiff-decompose --cse | FileCheck %s
// Differentiated as a whole, decomposed after, and merged: the loss and its gradient share the statistics of rows.
// CHECK-LABEL: weft.graph @shared_statistics
// CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [4, 16] init(zeros)
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce max %[[W]] over [1]
// CHECK-NEXT: %[[SUM_EXP:.*]] = weft.sum_exp %[[W]], %[[REDUCE]]
// CHECK-NEXT: %[[PICK:.*]] = weft.pick %[[W]], %arg0
// CHECK-NEXT: %[[LOSS:.*]], %[[COUNT:.*]] = weft.cross_entropy_loss %[[REDUCE]], %[[SUM_EXP]], %[[PICK]], %arg0
// CHECK-NEXT: %[[FILL:.*]] = weft.fill [] value(1.000000e+00)
// CHECK-NEXT: %[[CROSS_ENTROPY_GRAD:.*]] = weft.cross_entropy_grad %[[FILL]], %[[W]], %[[REDUCE]], %[[SUM_EXP]], %arg0 {phase = "backward"}
// CHECK-NEXT: %[[ACCUMULATE:.*]] = weft.accumulate %[[COUNT]]
// CHECK-NEXT: %[[ACCUMULATE1:.*]] = weft.accumulate %[[LOSS]]
// CHECK-NEXT: %[[DIV:.*]] = weft.div %[[ACCUMULATE1]], %[[ACCUMULATE]]
// CHECK-NEXT: weft.output "loss" metric %[[DIV]]
// CHECK-NEXT: %[[ACCUMULATE2:.*]] = weft.accumulate %[[CROSS_ENTROPY_GRAD]] {phase = "backward"}
// CHECK-NEXT: weft.update %[[W]] with %[[ACCUMULATE2]] per %[[ACCUMULATE]] {phase = "backward"}
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @shared_statistics("l" %l: tensor<4xi32>) placements [#one] {
  %w = weft.parameter "w" [4, 16] init(zeros) : () -> tensor<4x16xf32>
  %loss, %count = weft.cross_entropy %w, %l : (tensor<4x16xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
}
