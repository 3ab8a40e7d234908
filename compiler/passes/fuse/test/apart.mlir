// Why two kernels stay two: a program for each reason of runtime/plan/apart.h, in its order, and one that says of what a
// kernel was joined. The notes are in the locations.
// RUN: weft-opt %s --weft-fuse-clusters -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s
// RUN: weft-opt %s --weft-fuse-clusters=joins=0 -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=LIMIT
// RUN: weft-opt %s --weft-fuse-clusters=joins=1 -split-input-file -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=ONE

// Of three operators: each with its line and its scope. With fewer joins the rest says why.
// CHECK-LABEL: task.program @joined
// CHECK: task.kernel "add+gelu+neg"{{.*}} loc(fused<{joined = {{..}}"add", "m.mlir:1:2 in h.0"], ["gelu", "m.mlir:3:4 in h.0.mlp"], ["neg", "m.mlir:5:6"]]}>["m.mlir":5:6])
// LIMIT-LABEL: task.program @joined
// LIMIT: task.kernel "add"{{.*}} loc("m.mlir":1:2)
// LIMIT: task.kernel "gelu"{{.*}} loc(fused<{apart = {{..}}0, "limit"]]}>["m.mlir":3:4])
// LIMIT: task.kernel "neg"{{.*}}apart = {{..}}0, "limit"]]
// ONE-LABEL: task.program @joined
// ONE: task.kernel "add+gelu"{{.*}}joined = {{..}}"add", "m.mlir:1:2 in h.0"], ["gelu", "m.mlir:3:4 in h.0.mlp"]]
// ONE: task.kernel "neg"{{.*}} loc(fused<{apart = {{..}}0, "limit"]]}>["m.mlir":5:6])
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @joined on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %b = task.buffer "b" parameter : !b
  %s = task.buffer "s" activation : !x
  %g = task.buffer "g" activation : !x
  %y = task.buffer "y" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "add" ins(%x, %b : !x, !b) outs(%s : !x) {} micro {scope = "h.0"} loc("m.mlir":1:2)
  task.kernel "gelu" ins(%s : !x) outs(%g : !x) {approximate = "tanh"} micro {scope = "h.0.mlp"} loc("m.mlir":3:4)
  task.kernel "neg" ins(%g : !x) outs(%y : !x) {} micro loc("m.mlir":5:6)
}

// -----
// The forward and the backward.
// CHECK-LABEL: task.program @unit
// CHECK: task.kernel "abs"{{.*}}apart = {{..}}0, "unit"]]
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
task.program @unit on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %a = task.buffer "a" activation : !x
  %b = task.buffer "b" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%x : !x) outs(%a : !x) {} micro {phase = "forward"}
  task.kernel "abs" ins(%a : !x) outs(%b : !x) {} micro {phase = "backward"}
}

// -----
// What is gathered for layer 0 is read by the addition, which stays there.
// CHECK-LABEL: task.program @layer
// CHECK: task.kernel "abs"{{.*}}apart = {{..}}0, "layer"]]
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<B>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<B>>>
!share = !task.buffer<tensor<64xf32, #weft.sbp<S(0)>>>
task.program @layer on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %share = task.buffer "share" parameter : !share
  %b = task.buffer "b" communication : !b
  %y = task.buffer "y" activation : !x
  %z = task.buffer "z" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.collective all_gather [0] dim 0 %share to %b micro {on_use, scope = "h.0.mlp"} : !share, !b
  task.kernel "add" ins(%x, %b : !x, !b) outs(%y : !x) {} micro {scope = "h.0.mlp"}
  task.kernel "abs" ins(%y : !x) outs(%z : !x) {} micro {scope = "h.1.ln"}
}

// -----
// Two parts of a loss's rows.
// CHECK-LABEL: task.program @loss
// CHECK: task.kernel "abs"{{.*}}apart = {{..}}0, "loss"]]
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
task.program @loss on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %a = task.buffer "a" activation : !x
  %b = task.buffer "b" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%x : !x) outs(%a : !x) {} micro {of_chunk = 0}
  task.kernel "abs" ins(%a : !x) outs(%b : !x) {} micro {of_chunk = 1}
}

// -----
// 64 numbers, which are added to each of 2 rows.
// CHECK-LABEL: task.program @domain
// CHECK: task.kernel "add"{{.*}}apart = {{..}}1, "domain"]]
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @domain on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %b = task.buffer "b" parameter : !b
  %n = task.buffer "n" activation : !b
  %y = task.buffer "y" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%b : !b) outs(%n : !b) {} micro
  task.kernel "add" ins(%x, %n : !x, !b) outs(%y : !x) {} micro
}

// -----
// Sums along rows of 64, and along rows of 256.
// CHECK-LABEL: task.program @row
// CHECK: task.kernel "softmax"{{.*}}apart = {{..}}0, "row"]]
!x = !task.buffer<tensor<2x4x64xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<64xf32, #weft.sbp<>>>
!flat = !task.buffer<tensor<2x256xf32, #weft.sbp<>>>
task.program @row on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %w = task.buffer "w" parameter : !w
  %y = task.buffer "y" activation : !x
  %z = task.buffer "z" activation : !flat
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "rms_norm" ins(%x, %w : !x, !w) outs(%y : !x) {eps = 1.0e-5} micro
  %view = task.alias %y : !x as !flat
  task.kernel "softmax" ins(%view : !flat) outs(%z : !flat) {} micro
}

// -----
// The sum of all rows, which is added to each.
// CHECK-LABEL: task.program @sum
// CHECK: task.kernel "add"{{.*}}apart = {{..}}1, "sum"]]
!x = !task.buffer<tensor<4x64xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @sum on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %b = task.buffer "b" activation : !b
  %y = task.buffer "y" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "reduce" ins(%x : !x) outs(%b : !b) {dims = [0], kind = "sum"} micro
  task.kernel "add" ins(%x, %b : !x, !b) outs(%y : !x) {} micro
}

// -----
// One number of each row, which is added to a column.
// CHECK-LABEL: task.program @walk
// CHECK: task.kernel "add"{{.*}}apart = {{..}}1, "walk"]]
!x = !task.buffer<tensor<64x64xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @walk on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %w = task.buffer "w" parameter : !b
  %y = task.buffer "y" activation : !x
  %r = task.buffer "r" activation : !b
  %z = task.buffer "z" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "rms_norm" ins(%x, %w : !x, !b) outs(%y, %r : !x, !b) {eps = 1.0e-5} micro
  task.kernel "add" ins(%x, %r : !x, !b) outs(%z : !x) {} micro
}

// -----
// The sum of all rows goes over what is added to each of them.
// CHECK-LABEL: task.program @update
// CHECK: task.kernel "reduce"{{.*}}apart = {{..}}0, "update"]]
!x = !task.buffer<tensor<4x64xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @update on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %b = task.buffer "b" parameter : !b
  %y = task.buffer "y" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "add" ins(%x, %b : !x, !b) outs(%y : !x) {} micro
  task.kernel "reduce" ins(%y : !x) outs(%b : !b) {dims = [0], kind = "sum"} micro
}

// -----
// 512 numbers in one row, and in rows of 4.
// CHECK-LABEL: task.program @rows
// CHECK: task.kernel "add"{{.*}}apart = {{..}}0, "rows"]]
!x = !task.buffer<tensor<512xf32, #weft.sbp<>>>
!r = !task.buffer<tensor<128x4xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @rows on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %b = task.buffer "b" parameter : !b
  %n = task.buffer "n" activation : !x
  %y = task.buffer "y" activation : !r
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%x : !x) outs(%n : !x) {} micro
  %view = task.alias %n : !x as !r
  task.kernel "add" ins(%view, %b : !r, !b) outs(%y : !r) {} micro
}

// -----
// Ten inputs, and eight more.
// CHECK-LABEL: task.program @operands
// CHECK: task.kernel "add_n"{{.*}}apart = {{..}}0, "operands"]]
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
task.program @operands on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x0 = task.buffer "x0" activation : !x
  %x1 = task.buffer "x1" activation : !x
  %x2 = task.buffer "x2" activation : !x
  %x3 = task.buffer "x3" activation : !x
  %x4 = task.buffer "x4" activation : !x
  %x5 = task.buffer "x5" activation : !x
  %x6 = task.buffer "x6" activation : !x
  %x7 = task.buffer "x7" activation : !x
  %x8 = task.buffer "x8" activation : !x
  %x9 = task.buffer "x9" activation : !x
  %y0 = task.buffer "y0" activation : !x
  %y1 = task.buffer "y1" activation : !x
  %y2 = task.buffer "y2" activation : !x
  %y3 = task.buffer "y3" activation : !x
  %y4 = task.buffer "y4" activation : !x
  %y5 = task.buffer "y5" activation : !x
  %y6 = task.buffer "y6" activation : !x
  %y7 = task.buffer "y7" activation : !x
  %s = task.buffer "s" activation : !x
  %t = task.buffer "t" activation : !x
  task.kernel "fill" outs(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7 : !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x) {} micro
  task.kernel "add_n" ins(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9 : !x, !x, !x, !x, !x, !x, !x, !x, !x, !x) outs(%s : !x) {} micro
  task.kernel "add_n" ins(%s, %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7 : !x, !x, !x, !x, !x, !x, !x, !x, !x) outs(%t : !x) {} micro
}

// -----
// What the negation reads is written over before its result is read.
// CHECK-LABEL: task.program @order
// CHECK: task.kernel "add"{{.*}}apart = {{..}}0, "order"]]
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
task.program @order on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" parameter : !x
  %a = task.buffer "a" activation : !x
  %c = task.buffer "c" activation : !x
  task.kernel "neg" ins(%x : !x) outs(%a : !x) {} micro
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "add" ins(%a, %x : !x, !x) outs(%c : !x) {} micro
}
