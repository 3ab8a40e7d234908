// RUN: weft-opt %s --weft-memory-in-place --weft-memory-offsets | FileCheck %s
// In place first, then offsets: the alias needs none, and the shared buffer lives as long as both.
// CHECK-LABEL: task.program @both
// CHECK-SAME: arena(128, 128)
// CHECK-NEXT: %[[A:.*]] = task.buffer "a" activation at 0 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[ALIAS:.*]] = task.alias %[[A]] : <tensor<16xf32, #weft.sbp<>>> as <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: %[[C:.*]] = task.buffer "c" activation at 64 : <tensor<16xf32, #weft.sbp<>>>
// CHECK-NEXT: task.actor "graph.forward" compute micro {
// CHECK-NEXT: task.kernel "fill" outs(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "neg" ins(%[[A]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) outs(%[[ALIAS]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro in_place [0]
// CHECK-NEXT: task.kernel "fill" outs(%[[C]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {} micro
// CHECK-NEXT: task.kernel "output" ins(%[[ALIAS]] : !task.buffer<tensor<16xf32, #weft.sbp<>>>) {name = "y"} micro
// CHECK-NEXT: }
// CHECK-NEXT: }
!t = !task.buffer<tensor<16xf32, #weft.sbp<>>>
task.program @both on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" activation : !t
  %b = task.buffer "b" activation : !t
  %c = task.buffer "c" activation : !t
  task.actor "graph.forward" compute micro {
    task.kernel "fill" outs(%a : !t) {} micro
    task.kernel "neg" ins(%a : !t) outs(%b : !t) {} micro in_place [0]
    task.kernel "fill" outs(%c : !t) {} micro
    task.kernel "output" ins(%b : !t) {name = "y"} micro
  }
}
