// RUN: weft-opt %s --weft-fuse-packed -split-input-file | FileCheck %s

// Attention and its gradient read the parts where they are, and the gradient writes them so. Heads may be split.
// CHECK-LABEL: task.program @all
// CHECK: %[[X:.*]] = task.buffer "x"
// CHECK-NOT: "slice"
// CHECK: task.kernel "attention" ins(%[[X]] : {{.*}}) outs(%[[OUT:.*]], %[[LSE:.*]] : {{.*}}) {causal = 1 : i64, packed = 1 : i64, scale = 5.000000e-01 : f64} micro
// CHECK-NOT: "pad"
// CHECK: task.kernel "attention_grad" ins(%{{.*}}, %[[X]], %[[OUT]], %[[LSE]] : {{.*}}) outs(%[[DX:.*]] : {{.*}}) {causal = 1 : i64, packed = 1 : i64, scale = 5.000000e-01 : f64} micro {phase = "backward"}
// CHECK-NOT: "add_n"
// CHECK: task.kernel "gelu" ins(%[[DX]]
!x = !task.buffer<tensor<2x8x3x4x4xf32, #weft.sbp<S(0), S(3)>>>
!one = !task.buffer<tensor<2x8x1x4x4xf32, #weft.sbp<S(0), S(3)>>>
!q = !task.buffer<tensor<2x8x4x4xf32, #weft.sbp<S(0), S(2)>>>
!l = !task.buffer<tensor<2x4x8xf32, #weft.sbp<S(0), S(1)>>>
task.program @all on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %in = task.buffer "in" input : !x
  %x = task.buffer "x" activation : !x
  task.kernel "gelu" ins(%in : !x) outs(%x : !x) {} micro
  %0 = task.buffer "0" activation : !one
  %1 = task.buffer "1" activation : !one
  %2 = task.buffer "2" activation : !one
  task.kernel "slice" ins(%x : !x) outs(%0 : !one) {dim = 2 : i64, offset = 0 : i64, size = 1 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%1 : !one) {dim = 2 : i64, offset = 1 : i64, size = 1 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%2 : !one) {dim = 2 : i64, offset = 2 : i64, size = 1 : i64} micro
  %q = task.alias %0 : !one as !q
  %k = task.alias %1 : !one as !q
  %v = task.alias %2 : !one as !q
  %out = task.buffer "out" activation : !q
  %lse = task.buffer "lse" activation : !l
  task.kernel "attention" ins(%q, %k, %v : !q, !q, !q) outs(%out, %lse : !q, !l) {causal = 1 : i64, scale = 0.5 : f64} micro
  %dout = task.buffer "dout" activation : !q
  task.kernel "gelu" ins(%out : !q) outs(%dout : !q) {} micro {phase = "backward"}
  %dq = task.buffer "dq" activation : !q
  %dk = task.buffer "dk" activation : !q
  %dv = task.buffer "dv" activation : !q
  task.kernel "attention_grad" ins(%dout, %q, %k, %v, %out, %lse : !q, !q, !q, !q, !q, !l) outs(%dq, %dk, %dv : !q, !q, !q) {causal = 1 : i64, scale = 0.5 : f64} micro {phase = "backward"}
  %d0 = task.alias %dq : !q as !one
  %d1 = task.alias %dk : !q as !one
  %d2 = task.alias %dv : !q as !one
  %p0 = task.buffer "p0" activation : !x
  %p1 = task.buffer "p1" activation : !x
  %p2 = task.buffer "p2" activation : !x
  task.kernel "pad" ins(%d2 : !one) outs(%p2 : !x) {after = 0 : i64, before = 2 : i64, dim = 2 : i64} micro {phase = "backward"}
  task.kernel "pad" ins(%d1 : !one) outs(%p1 : !x) {after = 1 : i64, before = 1 : i64, dim = 2 : i64} micro {phase = "backward"}
  task.kernel "pad" ins(%d0 : !one) outs(%p0 : !x) {after = 2 : i64, before = 0 : i64, dim = 2 : i64} micro {phase = "backward"}
  %dx = task.buffer "dx" activation : !x
  task.kernel "add_n" ins(%p2, %p1, %p0 : !x, !x, !x) outs(%dx : !x) {} micro in_place [0] {phase = "backward"}
  %y = task.buffer "y" output : !x
  task.kernel "gelu" ins(%dx : !x) outs(%y : !x) {} micro {phase = "backward"}
}

// -----
// With the last dimensions as one the tensor is a view.
// CHECK-LABEL: task.program @flat
// CHECK: %[[X:.*]] = task.buffer "x"
// CHECK: %[[V:.*]] = task.alias %[[X]] : {{.*}} as <tensor<2x8x3x4x4xf32, #weft.sbp<S(0)>>>
// CHECK-NOT: "slice"
// CHECK: task.kernel "attention" ins(%[[V]] : {{.*}} {packed = 1 : i64
!x = !task.buffer<tensor<2x8x48xf32, #weft.sbp<S(0)>>>
!one = !task.buffer<tensor<2x8x16xf32, #weft.sbp<S(0)>>>
!q = !task.buffer<tensor<2x8x4x4xf32, #weft.sbp<S(0)>>>
task.program @flat on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %in = task.buffer "in" input : !x
  %x = task.buffer "x" activation : !x
  task.kernel "gelu" ins(%in : !x) outs(%x : !x) {} micro
  %0 = task.buffer "0" activation : !one
  %1 = task.buffer "1" activation : !one
  %2 = task.buffer "2" activation : !one
  task.kernel "slice" ins(%x : !x) outs(%0 : !one) {dim = 2 : i64, offset = 0 : i64, size = 16 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%1 : !one) {dim = 2 : i64, offset = 16 : i64, size = 16 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%2 : !one) {dim = 2 : i64, offset = 32 : i64, size = 16 : i64} micro
  %q = task.alias %0 : !one as !q
  %k = task.alias %1 : !one as !q
  %v = task.alias %2 : !one as !q
  %out = task.buffer "out" output : !q
  task.kernel "attention" ins(%q, %k, %v : !q, !q, !q) outs(%out : !q) {scale = 0.5 : f64} micro
}

// -----
// Keys and values that are swapped, a part that something else reads too, and rows that are split stay as they are.
// CHECK-LABEL: task.program @swapped
// CHECK-COUNT-3: "slice"
// CHECK-NOT: packed
!x = !task.buffer<tensor<2x8x3x4x4xf32, #weft.sbp<>>>
!one = !task.buffer<tensor<2x8x1x4x4xf32, #weft.sbp<>>>
!q = !task.buffer<tensor<2x8x4x4xf32, #weft.sbp<>>>
task.program @swapped on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %in = task.buffer "in" input : !x
  %x = task.buffer "x" activation : !x
  task.kernel "gelu" ins(%in : !x) outs(%x : !x) {} micro
  %0 = task.buffer "0" activation : !one
  %1 = task.buffer "1" activation : !one
  %2 = task.buffer "2" activation : !one
  task.kernel "slice" ins(%x : !x) outs(%0 : !one) {dim = 2 : i64, offset = 0 : i64, size = 1 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%1 : !one) {dim = 2 : i64, offset = 2 : i64, size = 1 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%2 : !one) {dim = 2 : i64, offset = 1 : i64, size = 1 : i64} micro
  %q = task.alias %0 : !one as !q
  %k = task.alias %1 : !one as !q
  %v = task.alias %2 : !one as !q
  %out = task.buffer "out" output : !q
  task.kernel "attention" ins(%q, %k, %v : !q, !q, !q) outs(%out : !q) {scale = 0.5 : f64} micro
}

// -----
// CHECK-LABEL: task.program @others
// CHECK-COUNT-3: "slice"
// CHECK-NOT: packed
!x = !task.buffer<tensor<2x8x3x4x4xf32, #weft.sbp<>>>
!one = !task.buffer<tensor<2x8x1x4x4xf32, #weft.sbp<>>>
!q = !task.buffer<tensor<2x8x4x4xf32, #weft.sbp<>>>
task.program @others on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %in = task.buffer "in" input : !x
  %x = task.buffer "x" activation : !x
  task.kernel "gelu" ins(%in : !x) outs(%x : !x) {} micro
  %0 = task.buffer "0" activation : !one
  %1 = task.buffer "1" activation : !one
  %2 = task.buffer "2" activation : !one
  task.kernel "slice" ins(%x : !x) outs(%0 : !one) {dim = 2 : i64, offset = 0 : i64, size = 1 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%1 : !one) {dim = 2 : i64, offset = 1 : i64, size = 1 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%2 : !one) {dim = 2 : i64, offset = 2 : i64, size = 1 : i64} micro
  %q = task.alias %0 : !one as !q
  %k = task.alias %1 : !one as !q
  %v = task.alias %2 : !one as !q
  %out = task.buffer "out" output : !q
  %y = task.buffer "y" output : !one
  task.kernel "attention" ins(%q, %k, %v : !q, !q, !q) outs(%out : !q) {scale = 0.5 : f64} micro
  task.kernel "gelu" ins(%2 : !one) outs(%y : !one) {} micro
}

// -----
// CHECK-LABEL: task.program @rows
// CHECK-COUNT-3: "slice"
// CHECK-NOT: packed
!x = !task.buffer<tensor<2x8x3x4x4xf32, #weft.sbp<S(1)>>>
!one = !task.buffer<tensor<2x8x1x4x4xf32, #weft.sbp<S(1)>>>
!q = !task.buffer<tensor<2x8x4x4xf32, #weft.sbp<S(1)>>>
task.program @rows on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %in = task.buffer "in" input : !x
  %x = task.buffer "x" activation : !x
  task.kernel "gelu" ins(%in : !x) outs(%x : !x) {} micro
  %0 = task.buffer "0" activation : !one
  %1 = task.buffer "1" activation : !one
  %2 = task.buffer "2" activation : !one
  task.kernel "slice" ins(%x : !x) outs(%0 : !one) {dim = 2 : i64, offset = 0 : i64, size = 1 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%1 : !one) {dim = 2 : i64, offset = 1 : i64, size = 1 : i64} micro
  task.kernel "slice" ins(%x : !x) outs(%2 : !one) {dim = 2 : i64, offset = 2 : i64, size = 1 : i64} micro
  %q = task.alias %0 : !one as !q
  %k = task.alias %1 : !one as !q
  %v = task.alias %2 : !one as !q
  %out = task.buffer "out" output : !q
  task.kernel "attention" ins(%q, %k, %v : !q, !q, !q) outs(%out : !q) {scale = 0.5 : f64} micro
}
