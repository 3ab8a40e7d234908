// RUN: weft-opt %s --weft-autodiff-optimizer=rule=madgrad -verify-diagnostics
// RUN: sed 's/, got madgrad/ that takes momentum=0.5, got adam/' %s > %t.mlir
// RUN: weft-opt %t.mlir --weft-autodiff-optimizer="rule=adam numbers=momentum=0.5" -verify-diagnostics

// expected-error @+1 {{'weft.graph' op rule: expected one of sgd, adam, adamw, lion, lamb, lars, adafactor, muon, got madgrad}}
weft.graph @g("g" %g: tensor<4xf32>, "c" %c: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  weft.update %w with %g per %c : (tensor<4xf32>, tensor<4xf32>, tensor<f32>)
}
