// RUN: weft-opt %s --weft-shard-infer --weft-box-route --cse --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// What the sum would cost otherwise is part of the location of its box, and stays there: made whole, all of %x is looked
// at on both ranks. What is pinned at both ends has no other layout.
// CHECK-LABEL: weft.graph @gelu
// CHECK: weft.box {{.*}} (tensor<8x8xf32, #weft.sbp<S(0)>>) -> tensor<8x8xf32, #weft.sbp<B>> loc(fused<{next_best = [{axis = 0 : i64}]}>[
// CHECK: weft.box {{.*}} (tensor<f32, #weft.sbp<P>>) -> tensor<f32, #weft.sbp<B>> loc(fused<{next_best = [{avoided = false, axis = 0 : i64, more_seconds = {{[0-9.e-]+}} : f64, states = #weft.sbp<B, B>}]}>[
#mesh = #weft.placement<"cpu", [tensor = 2], [0, 1]>
weft.graph @gelu("x" %x: tensor<4096x1024xf32>) placements [#mesh] attributes {weft.machine = {node_ranks = 64}} {
  %w = weft.parameter "w" [8, 8] init(zeros) sbp(tensor = S(0)) : () -> tensor<8x8xf32>
  %g = weft.to_global %w sbp(tensor = B) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  weft.output "g" %g : (tensor<8x8xf32>)
  %0 = weft.gelu %x : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %1 = weft.square_sum %0 : (tensor<4096x1024xf32>) -> tensor<f32>
  weft.output "norm" metric %1 : (tensor<f32>)
}
