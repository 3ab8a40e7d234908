// Types from operands to results; without a mesh in the module, on one CPU rank.
// RUN: weft-opt %s --weft-elaborate-infer | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: weft-opt %s --weft-elaborate-infer="micro-batches=4" | FileCheck %s --check-prefixes=CHECK,MICRO

// ONE:   weft.graph @train("x" %[[X:.*]]: tensor<4x8xf32>) placements [#weft.placement<"cpu", [], [0]>] {
// MICRO: weft.graph @train("x" %[[X:.*]]: tensor<4x8xf32>) placements [#weft.placement<"cpu", [], [0]>] micro_batches 4 {
model.graph @train(%x [4, 8] f32) {
  // CHECK-NEXT: %[[W:.*]] = weft.parameter "w" [8] init(zeros) : () -> tensor<8xf32>
  %w = weft.parameter "w" [8]
  // CHECK-NEXT: %[[Y:.*]] = weft.add %[[X]], %[[W]] : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %y = weft.add %x, %w
  // A dropout that drops nothing is left out.
  // CHECK-NEXT: %[[S:.*]] = weft.reduce sum %[[Y]] over [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  %d = weft.dropout %y rate(0)
  %s = weft.reduce sum %d over [0, 1]
  // CHECK-NEXT: weft.minimize %[[S]] : (tensor<f32>)
  weft.minimize %s
}

// A function runs once a step.
// RUN: echo 'model.graph @f() {}' | weft-opt --weft-elaborate-infer=micro-batches=4 | FileCheck %s --check-prefix=FUNCTION
// FUNCTION: weft.graph @f() placements [#weft.placement<"cpu", [], [0]>] {
