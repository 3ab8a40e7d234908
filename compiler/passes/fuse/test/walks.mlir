// RUN: weft-opt %s --weft-fuse-clusters -split-input-file | FileCheck %s

// A transpose that leaves rows whole is a walk in another order. What comes before and behind it joins: the sum is
// written where it is added to the other tensor.
// CHECK-LABEL: task.program @turned
// CHECK: task.kernel "add+transpose+add"
// CHECK: cell.kernel @k0_add_transpose_add domain [2, 3, 64] row 1
// CHECK-SAME: strides [array<i64: 192, 64, 1>, array<i64: 0, 0, 1>, array<i64: 64, 128, 1>, array<i64: 64, 128, 1>]
!x = !task.buffer<tensor<2x3x64xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<3x2x64xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @turned on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %b = task.buffer "b" parameter : !b
  %sum = task.buffer "sum" activation : !x
  %turned = task.buffer "turned" activation : !y
  %z = task.buffer "z" activation : !y
  %y = task.buffer "y" activation : !y
  %out = task.buffer "out" activation : !y
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "fill" outs(%z : !y) {} micro
  task.kernel "add" ins(%x, %b : !x, !b) outs(%sum : !x) {} micro
  task.kernel "transpose" ins(%sum : !x) outs(%turned : !y) {perm = [1, 0, 2]} micro
  task.kernel "add" ins(%turned, %z : !y, !y) outs(%y : !y) {} micro
  task.kernel "einsum" ins(%y, %z : !y, !y) outs(%out : !y) {equation = "ijk,ijk->ijk"} micro
}

// -----
// A norm's rows stay rows; its numbers of rows are in the order of what it reads.
// CHECK-LABEL: task.program @norm
// CHECK: task.kernel "transpose+rms_norm"
// CHECK: cell.kernel @k0_transpose_rms_norm domain [3, 2, 64] row 64
// CHECK-SAME: strides [array<i64: 64, 192, 1>, array<i64: 0, 0, 1>, array<i64: 128, 64, 1>, array<i64: 2, 1, 0>]
!x = !task.buffer<tensor<2x3x64xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<3x2x64xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<64xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<3x2xf32, #weft.sbp<>>>
task.program @norm on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %w = task.buffer "w" parameter : !w
  %turned = task.buffer "turned" activation : !y
  %y = task.buffer "y" activation : !y
  %s = task.buffer "s" activation : !s
  %out = task.buffer "out" activation : !y
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "transpose" ins(%x : !x) outs(%turned : !y) {perm = [1, 0, 2]} micro
  task.kernel "rms_norm" ins(%turned, %w : !y, !w) outs(%y, %s : !y, !s) {eps = 1.0e-5} micro
  task.kernel "einsum" ins(%y, %y : !y, !y) outs(%out : !y) {equation = "ijk,ijk->ijk"} micro
}

// -----
// A sum over rows has an order: it keeps its own, and what comes before goes by it.
// CHECK-LABEL: task.program @sum
// CHECK: task.kernel "neg+transpose+reduce"
// CHECK: cell.kernel @k0_neg_transpose_reduce domain [3, 2, 64]
// CHECK-SAME: strides [array<i64: 64, 192, 1>, array<i64: 0, 0, 1>]
!x = !task.buffer<tensor<2x3x64xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<3x2x64xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @sum on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %n = task.buffer "n" activation : !x
  %turned = task.buffer "turned" activation : !y
  %w = task.buffer "w" activation : !w
  %out = task.buffer "out" activation : !w
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%x : !x) outs(%n : !x) {} micro
  task.kernel "transpose" ins(%n : !x) outs(%turned : !y) {perm = [1, 0, 2]} micro
  task.kernel "reduce" ins(%turned : !y) outs(%w : !w) {kind = "sum", dims = [0, 1]} micro
  task.kernel "einsum" ins(%w, %w : !w, !w) outs(%out : !w) {equation = "i,i->i"} micro
}

// -----
// A part of a tensor is read where it lies, and not a second time.
// CHECK-LABEL: task.program @part
// CHECK: task.kernel "slice+neg" ins(%[[X:.*]] : {{.*}})
// CHECK: cell.kernel @k0_slice_neg domain [2, 64] row 1
// CHECK-SAME: strides [array<i64: 320, 1>, array<i64: 64, 1>] from [128, 0]
!x = !task.buffer<tensor<2x5x64xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<2x1x64xf32, #weft.sbp<>>>
task.program @part on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %part = task.buffer "part" activation : !y
  %y = task.buffer "y" activation : !y
  %out = task.buffer "out" activation : !y
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "slice" ins(%x : !x) outs(%part : !y) {dim = 1, offset = 2, size = 1} micro
  task.kernel "neg" ins(%part : !y) outs(%y : !y) {} micro
  task.kernel "einsum" ins(%y, %y : !y, !y) outs(%out : !y) {equation = "ijk,ijk->ijk"} micro
}
