// A parameter that only weft.stop_gradient reads is not trained, without a warning; nothing is differentiated behind it.
// RUN: weft-opt %s --weft-autodiff -verify-diagnostics | FileCheck %s

#mesh = #weft.placement<"cpu", [], [0]>
// CHECK-LABEL: weft.graph @train
weft.graph @train("x" %x: tensor<4xf32>) placements [#mesh] {
  %f = weft.parameter "frozen" [4] init(ones) : () -> tensor<4xf32>
  %w = weft.parameter "w" [4] init(ones) : () -> tensor<4xf32>
  %0 = weft.stop_gradient %f : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.mul %1, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = weft.mul %2, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = weft.reduce mean %3 over [0] : (tensor<4xf32>) -> tensor<f32>
  weft.minimize %4 : (tensor<f32>)
  // Of the product, the one operand's gradient is for nobody: only that of `w` goes on.
  // CHECK: weft.update %{{.*}} with
  // CHECK-NOT: weft.update
}
