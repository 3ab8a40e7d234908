// RUN: weft-opt %s --weft-pipeline-split -split-input-file | FileCheck %s

// What only the gradient of a weight needs: its product, the sum over rows of a bias's, and what is between these and the sum over
// the micro-batches. The product that gives the gradient of the input stays, as does the loss.
// CHECK-LABEL: weft.graph @linear
// CHECK: weft.einsum "bo,io->bi" {{.*}} {phase = "backward"}
// CHECK: weft.einsum "bi,bo->io" {{.*}} {phase = "weight"}
// CHECK: weft.scale {{.*}} {phase = "weight"}
// CHECK: weft.cast {{.*}} {phase = "weight"}
// CHECK: weft.accumulate {{.*}} {phase = "weight", scope = "w"}
// CHECK: weft.reduce {{.*}} {phase = "weight"}
// CHECK: weft.accumulate {{.*}} {phase = "weight", scope = "b"}
// CHECK: weft.accumulate %arg2 : (tensor<f32>) -> tensor<f32>
#one = #weft.placement<"cpu", [], [0]>
weft.graph @linear("x" %x: tensor<4x8xf32>, "g" %g: tensor<4x2xf32>, "loss" %loss: tensor<f32>) placements [#one] {
  %w = weft.parameter "w" [8, 2] init(zeros) : () -> tensor<8x2xf32>
  %0 = weft.einsum "bo,io->bi" %g, %w {phase = "backward"} : (tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<4x8xf32>
  %1 = weft.einsum "bi,bo->io" %x, %g {phase = "backward"} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %2 = weft.scale %1 by(2.0) {phase = "backward"} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %3 = weft.cast %2 to bf16 {phase = "backward"} : (tensor<8x2xf32>) -> tensor<8x2xbf16>
  %4 = weft.accumulate %3 {phase = "backward", scope = "w"} : (tensor<8x2xbf16>) -> tensor<8x2xbf16>
  %5 = weft.reduce sum %g over [0] {phase = "backward"} : (tensor<4x2xf32>) -> tensor<2xf32>
  %6 = weft.accumulate %5 {phase = "backward", scope = "b"} : (tensor<2xf32>) -> tensor<2xf32>
  %7 = weft.accumulate %loss : (tensor<f32>) -> tensor<f32>
  weft.output "dx" %0 : (tensor<4x8xf32>)
}

// -----
// A parameter that is read twice: both products go, and their sum.
// CHECK-LABEL: weft.graph @twice
// CHECK: weft.einsum {{.*}} {phase = "weight", scope = "a"}
// CHECK: weft.einsum {{.*}} {phase = "weight", scope = "b"}
// CHECK: weft.add {{.*}} {phase = "weight"}
// CHECK: weft.accumulate {{.*}} {phase = "weight"}
#one = #weft.placement<"cpu", [], [0]>
weft.graph @twice("x" %x: tensor<4x8xf32>, "g" %g: tensor<4x2xf32>) placements [#one] {
  %0 = weft.einsum "bi,bo->io" %x, %g {phase = "backward", scope = "a"} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %1 = weft.einsum "bi,bo->io" %x, %g {phase = "backward", scope = "b"} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %2 = weft.add %0, %1 {phase = "backward"} : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  %3 = weft.accumulate %2 {phase = "backward"} : (tensor<8x2xf32>) -> tensor<8x2xf32>
}

// -----
// What something else needs too stays, with what is behind it; so does what an element-wise op makes, and what is no backward.
// CHECK-LABEL: weft.graph @stays
// CHECK: weft.einsum {{.*}} {phase = "backward", scope = "shared"}
// CHECK: weft.accumulate {{.*}} {phase = "backward", scope = "shared"}
// CHECK: weft.mul {{.*}} {phase = "backward", scope = "wise"}
// CHECK: weft.accumulate {{.*}} {phase = "backward", scope = "wise"}
// CHECK: weft.einsum {{.*}} {scope = "forward"}
// CHECK: weft.accumulate {{.*}} {phase = "backward", scope = "forward"}
#one = #weft.placement<"cpu", [], [0]>
weft.graph @stays("x" %x: tensor<4x8xf32>, "g" %g: tensor<4x2xf32>) placements [#one] {
  %0 = weft.einsum "bi,bo->io" %x, %g {phase = "backward", scope = "shared"} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %1 = weft.accumulate %0 {phase = "backward", scope = "shared"} : (tensor<8x2xf32>) -> tensor<8x2xf32>
  weft.output "norm" %0 : (tensor<8x2xf32>)
  %2 = weft.mul %x, %x {phase = "backward", scope = "wise"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = weft.accumulate %2 {phase = "backward", scope = "wise"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = weft.einsum "bi,bo->io" %x, %g {scope = "forward"} : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %5 = weft.accumulate %4 {phase = "backward", scope = "forward"} : (tensor<8x2xf32>) -> tensor<8x2xf32>
}
