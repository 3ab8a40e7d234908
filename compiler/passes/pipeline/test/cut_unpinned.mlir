// RUN: weft-opt %s --weft-pipeline-cut -split-input-file -mlir-print-local-scope | FileCheck %s

// With one stage of one chunk nothing is cut: what `model.stage` said goes away, wherever it stood.
// CHECK-LABEL: weft.graph @pinned
// CHECK-SAME: placements [#weft.placement<"cpu", [], [0]>]
// CHECK-NOT: chunk
// CHECK: weft.neg {{.*}} {scope = "h.0"}
// CHECK: weft.neg {{.*}} {scope = "h.0.mlp"}
// CHECK-NOT: chunk
#a = #weft.placement<"cpu", [], [0]>
weft.graph @pinned("x" %x: tensor<4xf32>) placements [#a] {
  %0 = weft.neg %x {scope = "h.0"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.neg %0 {scope = "h.0.mlp", chunk = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %1 {chunk = 3 : i64} : (tensor<4xf32>)
}

// -----
// Stages that placements in the model made stay.
// CHECK-LABEL: weft.graph @placed
// CHECK-SAME: placements [#weft.placement<"cpu", [], [0]>, #weft.placement<"cpu", [], [1]>]
// CHECK: weft.to_global {{.*}} {stage = 1 : i64}
#a = #weft.placement<"cpu", [], [0]>
#b = #weft.placement<"cpu", [], [1]>
weft.graph @placed("x" %x: tensor<4xf32>) placements [#a, #b] {
  %0 = weft.to_global %x placement("cpu", [1]) {stage = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "y" %0 {stage = 1 : i64} : (tensor<4xf32>)
}
