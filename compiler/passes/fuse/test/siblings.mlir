// RUN: weft-opt %s --weft-fuse-clusters -split-input-file | FileCheck %s

// What is gated and its gate read the same gradient: one kernel, before the product that reads what the first makes.
// CHECK-LABEL: task.program @gate
// CHECK: task.kernel "mul+mul+silu_grad" ins(%[[DY:.*]], %[[S:.*]], %[[UP:.*]], %[[G:.*]] : {{.*}}) outs(%[[DUP:.*]], %[[DG:.*]] : {{.*}})
// CHECK: task.kernel "einsum"
// CHECK: task.kernel "einsum"
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<64x64xf32, #weft.sbp<>>>
task.program @gate on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %dy = task.buffer "dy" activation : !x
  %s = task.buffer "s" activation : !x
  %up = task.buffer "up" activation : !x
  %g = task.buffer "g" activation : !x
  %ds = task.buffer "ds" activation : !x
  %dup = task.buffer "dup" activation : !x
  %dg = task.buffer "dg" activation : !x
  %w = task.buffer "w" parameter : !w
  %y = task.buffer "y" activation : !x
  %z = task.buffer "z" activation : !x
  task.kernel "fill" outs(%dy : !x) {} micro
  task.kernel "fill" outs(%s : !x) {} micro
  task.kernel "fill" outs(%up : !x) {} micro
  task.kernel "fill" outs(%g : !x) {} micro
  task.kernel "mul" ins(%dy, %s : !x, !x) outs(%dup : !x) {} micro cost [0.0, 1.0, 1536.0]
  task.kernel "mul" ins(%dy, %up : !x, !x) outs(%ds : !x) {} micro cost [0.0, 1.0, 1536.0]
  task.kernel "einsum" ins(%dup, %w : !x, !w) outs(%y : !x) {equation = "ij,jk->ik"} micro
  task.kernel "silu_grad" ins(%ds, %g : !x, !x) outs(%dg : !x) {} micro cost [0.0, 1.0, 1536.0]
  task.kernel "einsum" ins(%dg, %w : !x, !w) outs(%z : !x) {equation = "ij,jk->ik"} micro
}

// -----
// What is read lives on: both stay where they are, as what the second makes would be in memory beside it.
// CHECK-LABEL: task.program @memory
// CHECK: task.kernel "neg"
// CHECK: task.kernel "einsum"
// CHECK: task.kernel "exp"
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<64x64xf32, #weft.sbp<>>>
task.program @memory on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %a = task.buffer "a" activation : !x
  %b = task.buffer "b" activation : !x
  %w = task.buffer "w" parameter : !w
  %y = task.buffer "y" activation : !x
  %z = task.buffer "z" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%x : !x) outs(%a : !x) {} micro
  task.kernel "einsum" ins(%a, %w : !x, !w) outs(%y : !x) {equation = "ij,jk->ik"} micro
  task.kernel "exp" ins(%x : !x) outs(%b : !x) {} micro
  task.kernel "einsum" ins(%b, %x : !x, !x) outs(%z : !x) {equation = "ij,kj->ik"} micro
}

// -----
// The second needs what is made of the first's result.
// CHECK-LABEL: task.program @chain
// CHECK: task.kernel "neg"
// CHECK: task.kernel "einsum"
// CHECK: task.kernel "add"
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<64x64xf32, #weft.sbp<>>>
task.program @chain on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %a = task.buffer "a" activation : !x
  %b = task.buffer "b" activation : !x
  %w = task.buffer "w" parameter : !w
  %y = task.buffer "y" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%x : !x) outs(%a : !x) {} micro
  task.kernel "einsum" ins(%a, %w : !x, !w) outs(%y : !x) {equation = "ij,jk->ik"} micro
  task.kernel "add" ins(%x, %y : !x, !x) outs(%b : !x) {} micro
}

// -----
// What they have in common is small beside what they read: they stay apart.
// CHECK-LABEL: task.program @small
// CHECK: task.kernel "add"
// CHECK: task.kernel "mul"
!x = !task.buffer<tensor<8x64xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @small on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %y = task.buffer "y" activation : !x
  %c = task.buffer "c" activation : !b
  %a = task.buffer "a" activation : !x
  %b = task.buffer "b" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "fill" outs(%y : !x) {} micro
  task.kernel "fill" outs(%c : !b) {} micro
  task.kernel "add" ins(%x, %c : !x, !b) outs(%a : !x) {} micro
  task.kernel "mul" ins(%y, %c : !x, !b) outs(%b : !x) {} micro
}

// -----
// What is kept is declared first, in its order, whatever joins: where it lies follows from that.
// CHECK-LABEL: task.program @state
// CHECK-NEXT: task.buffer "keys" cache
// CHECK-NEXT: task.buffer "values" cache
// CHECK-NEXT: task.buffer "w" parameter
// CHECK: task.kernel "neg+exp"
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
task.program @state on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %a = task.buffer "a" activation : !x
  %k = task.buffer "keys" cache : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%x : !x) outs(%a : !x) {} micro
  %v = task.buffer "values" cache : !x
  %w = task.buffer "w" parameter : !x
  %b = task.buffer "b" activation : !x
  task.kernel "exp" ins(%x : !x) outs(%b : !x) {} micro
  task.kernel "einsum" ins(%a, %w : !x, !x) outs(%k : !x) {equation = "ij,ij->ij"} micro
  task.kernel "einsum" ins(%b, %w : !x, !x) outs(%v : !x) {equation = "ij,ij->ij"} micro
}
