// RUN: weft-opt %s --weft-autodiff-decompose | FileCheck %s

// Cross entropy becomes row statistics and a loss of them, with its scope and phase; all of them split by the
// vocabulary. Other ops stay.
// CHECK-LABEL: weft.graph @cross_entropy
// CHECK-NEXT: %[[NEG:.*]] = weft.neg %arg0
// CHECK-NEXT: %[[REDUCE:.*]] = weft.reduce max %[[NEG]] over [1] {phase = "p", scope = "head", stage = 0 : i64}
// CHECK-NEXT: %[[SUM_EXP:.*]] = weft.sum_exp %[[NEG]], %[[REDUCE]] {phase = "p", scope = "head", stage = 0 : i64}
// CHECK-NEXT: %[[PICK:.*]] = weft.pick %[[NEG]], %arg1 ignore(-1) {phase = "p", scope = "head", stage = 0 : i64}
// CHECK-NEXT: %[[LOSS:.*]], %[[COUNT:.*]] = weft.cross_entropy_loss %[[REDUCE]], %[[SUM_EXP]], %[[PICK]], %arg1 ignore(-1) {phase = "p", scope = "head", stage = 0 : i64}
// CHECK-NEXT: weft.output "loss" metric %[[LOSS]]
// CHECK-NEXT: weft.output "count" metric %[[COUNT]]
// CHECK-NEXT: }
#one = #weft.placement<"cpu", [], [0]>
weft.graph @cross_entropy("x" %x: tensor<4x16xf32>, "l" %l: tensor<4xi32>) placements [#one] {
  %0 = weft.neg %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %loss, %count = weft.cross_entropy %0, %l ignore(-1) {phase = "p", scope = "head", stage = 0 : i64} : (tensor<4x16xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<f32>)
  weft.output "loss" metric %loss : (tensor<f32>)
  weft.output "count" metric %count : (tensor<f32>)
}

// What stops gradients is gone with them.
// CHECK-LABEL: weft.graph @stopped
// CHECK-NEXT: %[[NEG:.*]] = weft.neg %arg0
// CHECK-NEXT: weft.output "y" %[[NEG]]
// CHECK-NEXT: }
weft.graph @stopped("x" %x: tensor<4xf32>) placements [#one] {
  %0 = weft.stop_gradient %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.stop_gradient %1 : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %2 : (tensor<4xf32>)
}
