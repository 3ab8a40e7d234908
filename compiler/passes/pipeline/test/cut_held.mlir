// A function is cut as the training is beside which it is evaluated: it may lack layers of it, and a stage may be left with none. What
// the training lacks goes with what is before it.
// RUN: weft-opt %s --weft-pipeline-cut=stages=3 -mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: weft.graph @evaluate
// CHECK-NOT: weft.chunks
// CHECK: weft.gelu %arg0 {chunk = 1 : i64, scope = "h.1", stage = 1 : i64}
// CHECK: weft.neg %{{.*}} {chunk = 1 : i64, scope = "probe", stage = 1 : i64}
// CHECK: weft.gelu %{{.*}} {chunk = 2 : i64, scope = "head", stage = 2 : i64}
#mesh = #weft.placement<"cpu", [], [0]>
weft.graph @evaluate("x" %x: tensor<8x64xf32>) placements [#mesh] attributes {weft.chunks = {h.0 = 0, h.1 = 1, h.2 = 1, head = 2}} {
  %0 = weft.gelu %x {scope = "h.1"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = weft.neg %0 {scope = "probe"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = weft.gelu %1 {scope = "head"} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  weft.output "y" %2 {scope = "head"} : (tensor<8x64xf32>)
}
