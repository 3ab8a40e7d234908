// RUN: weft-opt %s --weft-autodiff-optimizer=rule=lion -verify-diagnostics

// expected-error @+1 {{'weft.graph' op rule: expected sgd, adam or adamw, got lion}}
weft.graph @g("g" %g: tensor<4xf32>, "c" %c: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  weft.update %w with %g per %c : (tensor<4xf32>, tensor<4xf32>, tensor<f32>)
}
