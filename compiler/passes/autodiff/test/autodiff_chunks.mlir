// RUN: weft-opt %s --weft-autodiff -split-input-file -mlir-print-local-scope | FileCheck %s

// A parameter that two chunks read: what flows back to it is summed within each chunk, over its readers and over the
// micro-batches, so that one gradient of each passes between them, once a step; there they are added, once. Chunk 0 reads
// it twice, chunk 1 once.
// CHECK-LABEL: weft.graph @tied
// CHECK-SAME: ("x" %arg0: tensor<4xf32>) placements [#weft.placement<"cpu", [], [0]>, #weft.placement<"cpu", [], [1]>]
// CHECK-NEXT: %0 = weft.parameter "w" [4] init(zeros) {scope = "wte"} : () -> tensor<4xf32>
// CHECK-NEXT: %1 = weft.mul %arg0, %0 {scope = "wte"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = weft.mul %1, %0 {scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %3 = weft.mul %2, %0 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %4 = weft.reduce sum %3 over [0] {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT: %5 = weft.fill [] value(1.000000e+00) {chunk = 1 : i64, loss_seed, scope = "head", stage = 1 : i64} : () -> tensor<f32>
// CHECK-NEXT: %6 = weft.reshape %5 [1] {chunk = 1 : i64, phase = "backward", scope = "head", stage = 1 : i64} : (tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: %7 = weft.broadcast_to %6 [4] {chunk = 1 : i64, phase = "backward", scope = "head", stage = 1 : i64} : (tensor<1xf32>) -> tensor<4xf32>
// CHECK-NEXT: %8 = weft.mul %7, %0 {chunk = 1 : i64, phase = "backward", scope = "head", stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %9 = weft.mul %7, %2 {chunk = 1 : i64, phase = "backward", scope = "head", stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %10 = weft.mul %8, %0 {phase = "backward", scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %11 = weft.mul %8, %1 {phase = "backward", scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %12 = weft.mul %10, %0 {phase = "backward", scope = "wte"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %13 = weft.mul %10, %arg0 {phase = "backward", scope = "wte"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %14 = weft.fill [] value(1.000000e+00) {chunk = 1 : i64, scope = "head", stage = 1 : i64} : () -> tensor<f32>
// CHECK-NEXT: %15 = weft.accumulate %14 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %16 = weft.accumulate %4 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %17 = weft.div %16, %15 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: weft.output "loss" metric %17 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>)
// CHECK-NEXT: %18 = weft.accumulate %9 {chunk = 1 : i64, phase = "backward", scope = "head", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %19 = weft.add %11, %13 {phase = "backward", scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %20 = weft.accumulate %19 {phase = "backward", scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %21 = weft.add %18, %20 {phase = "backward", scope = "wte"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: weft.update %0 with %21 per %15 {phase = "backward", scope = "wte"} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>)
#a = #weft.placement<"cpu", [], [0]>
#b = #weft.placement<"cpu", [], [1]>
weft.graph @tied("x" %x: tensor<4xf32>) placements [#a, #b] {
  %w = weft.parameter "w" [4] init(zeros) {scope = "wte"} : () -> tensor<4xf32>
  %0 = weft.mul %x, %w {scope = "wte"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.mul %0, %w {scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.mul %1, %w {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %2 over [0] {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
  weft.minimize %loss {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>)
}

// -----
// A value that another chunk reads twice: the two are added there, and one gradient comes back.
// CHECK-LABEL: weft.graph @skip
// CHECK-SAME: ("x" %arg0: tensor<4xf32>) placements [#weft.placement<"cpu", [], [0]>, #weft.placement<"cpu", [], [1]>]
// CHECK-NEXT: %0 = weft.parameter "w" [4] init(zeros) {scope = "h.0"} : () -> tensor<4xf32>
// CHECK-NEXT: %1 = weft.mul %arg0, %0 {scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %2 = weft.scale %1 by(2.000000e+00) {scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %3 = weft.scale %1 by(3.000000e+00) {chunk = 1 : i64, scope = "h.1", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %4 = weft.scale %1 by(5.000000e+00) {chunk = 1 : i64, scope = "h.2", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %5 = weft.add_n %2, %3, %4 {chunk = 1 : i64, scope = "h.2", stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %6 = weft.reduce sum %5 over [0] {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
// CHECK-NEXT: %7 = weft.fill [] value(1.000000e+00) {chunk = 1 : i64, loss_seed, scope = "head", stage = 1 : i64} : () -> tensor<f32>
// CHECK-NEXT: %8 = weft.reshape %7 [1] {chunk = 1 : i64, phase = "backward", scope = "head", stage = 1 : i64} : (tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: %9 = weft.broadcast_to %8 [4] {chunk = 1 : i64, phase = "backward", scope = "head", stage = 1 : i64} : (tensor<1xf32>) -> tensor<4xf32>
// CHECK-NEXT: %10 = weft.scale %9 by(5.000000e+00) {chunk = 1 : i64, phase = "backward", scope = "h.2", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %11 = weft.scale %9 by(3.000000e+00) {chunk = 1 : i64, phase = "backward", scope = "h.1", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %12 = weft.scale %9 by(2.000000e+00) {phase = "backward", scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %13 = weft.add %10, %11 {chunk = 1 : i64, phase = "backward", scope = "h.2", stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %14 = weft.add %13, %12 {phase = "backward", scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %15 = weft.mul %14, %0 {phase = "backward", scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %16 = weft.mul %14, %arg0 {phase = "backward", scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %17 = weft.fill [] value(1.000000e+00) {chunk = 1 : i64, scope = "head", stage = 1 : i64} : () -> tensor<f32>
// CHECK-NEXT: %18 = weft.accumulate %17 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %19 = weft.accumulate %6 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %20 = weft.div %19, %18 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: weft.output "loss" metric %20 {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>)
// CHECK-NEXT: %21 = weft.accumulate %16 {phase = "backward", scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: weft.update %0 with %21 per %18 {phase = "backward", scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>)
#a = #weft.placement<"cpu", [], [0]>
#b = #weft.placement<"cpu", [], [1]>
weft.graph @skip("x" %x: tensor<4xf32>) placements [#a, #b] {
  %w = weft.parameter "w" [4] init(zeros) {scope = "h.0"} : () -> tensor<4xf32>
  %0 = weft.mul %x, %w {scope = "h.0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.scale %0 by(2.0) {scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.scale %0 by(3.0) {chunk = 1 : i64, scope = "h.1", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = weft.scale %0 by(5.0) {chunk = 1 : i64, scope = "h.2", stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = weft.add_n %1, %2, %3 {chunk = 1 : i64, scope = "h.2", stage = 1 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %4 over [0] {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
  weft.minimize %loss {chunk = 1 : i64, scope = "head", stage = 1 : i64} : (tensor<f32>)
}
