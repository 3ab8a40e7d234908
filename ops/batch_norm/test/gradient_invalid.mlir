// RUN: weft-opt %s --weft-autodiff -verify-diagnostics

#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @train("x" %x: tensor<4x3xf32>) placements [#mesh] {
  %w = weft.parameter "w" [3] init(ones) : () -> tensor<3xf32>
  %b = weft.parameter "b" [3] init(zeros) : () -> tensor<3xf32>
  // expected-error @+1 {{expected no gradient of the statistics, got one; weft.stop_gradient keeps it away}}
  %y, %m, %v = weft.batch_norm %x, %w, %b over [0] eps(1.0e-5) : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %0 = weft.mul %y, %m : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %1 = weft.reduce mean %0 over [0, 1] : (tensor<4x3xf32>) -> tensor<f32>
  weft.minimize %1 : (tensor<f32>)
}
