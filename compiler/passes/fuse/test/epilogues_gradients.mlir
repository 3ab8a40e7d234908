// RUN: weft-opt %s --weft-fuse-epilogues -split-input-file | FileCheck %s

// The sums of what a generated kernel makes are left to it, as is GELU's gradient.
// CHECK-LABEL: task.program @gelu_grad
// CHECK: task.kernel "einsum" {{.*}} {equation = "so,io->si"}
// CHECK: task.kernel "gelu_grad"
// CHECK: task.kernel "einsum" {{.*}} {equation = "sh,si->hi"}
// CHECK: task.kernel "reduce"
!g = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!x = !task.buffer<tensor<2x2xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<2xf32, #weft.sbp<>>>
task.program @gelu_grad on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %g = task.buffer "g" input : !g
  %w = task.buffer "w" parameter : !w
  %at = task.buffer "at" activation : !x
  %dy = task.buffer "dy" activation : !x
  %dx = task.buffer "dx" activation : !x
  %dw = task.buffer "dw" activation : !x
  task.kernel "fill" outs(%at : !x) {} micro
  task.kernel "einsum" ins(%g, %w : !g, !w) outs(%dy : !x) {equation = "so,io->si"} micro {phase = "backward"} cost [64.0, 0.0, 144.0]
  task.kernel "gelu_grad" ins(%dy, %at : !x, !x) outs(%dx : !x) {approximate = "tanh"} micro in_place [0] {phase = "backward"} cost [0.0, 8.0, 32.0]
  task.kernel "einsum" ins(%at, %dx : !x, !x) outs(%dw : !x) {equation = "sh,si->hi"} micro {phase = "backward"}
  %db = task.buffer "db" activation : !b
  task.kernel "reduce" ins(%dx : !x) outs(%db : !b) {dims = [0], kind = "sum"} micro {phase = "backward"} cost [0.0, 4.0, 32.0]
}

// -----
// The sums of what a product reads, on either side, before it or behind it. They are written as the product is.
// CHECK-LABEL: task.program @operands
// CHECK: task.kernel "einsum" ins(%[[X:.*]], %[[DY:.*]] : {{.*}}) outs(%{{.*}}, %{{.*}} : {{.*}}) {epilogue = "sum_rhs", equation = "bsi,bso->io"}
// CHECK: task.kernel "einsum" ins(%{{.*}}, %[[X]] : {{.*}}) outs(%{{.*}}, %{{.*}} : {{.*}}) {epilogue = "sum_lhs", equation = "bso,bsi->io"}
// CHECK-NOT: "reduce"
!x = !task.buffer<tensor<2x3x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @operands on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %dy = task.buffer "dy" input : !x
  %dy2 = task.buffer "dy2" input : !x
  %db = task.buffer "db" activation : !b
  %dw = task.buffer "dw" activation : !w
  %db2 = task.buffer "db2" activation : !b
  %dw2 = task.buffer "dw2" activation : !w
  task.kernel "reduce" ins(%dy : !x) outs(%db : !b) {dims = [0, 1], kind = "sum"} micro
  task.kernel "einsum" ins(%x, %dy : !x, !x) outs(%dw : !w) {equation = "bsi,bso->io"} micro
  task.kernel "einsum" ins(%dy2, %x : !x, !x) outs(%dw2 : !w) {equation = "bso,bsi->io"} micro
  task.kernel "reduce" ins(%dy2 : !x) outs(%db2 : !b) {dims = [0, 1], kind = "sum"} micro
}

// -----
// Left as they are: a maximum; kept dimensions; sums over the last dimension; over other letters than the product's; a
// result whose last letters are others'; letters that are a batch's; a narrower result; a product of the weight unit.
// CHECK-LABEL: task.program @apart
// CHECK-COUNT-8: task.kernel "reduce"
// CHECK-NOT: epilogue
!x = !task.buffer<tensor<2x3x4xf32, #weft.sbp<>>>
!k = !task.buffer<tensor<1x1x4xf32, #weft.sbp<>>>
!r = !task.buffer<tensor<2x3xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<3x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4x4xf32, #weft.sbp<>>>
!h = !task.buffer<tensor<4x4xbf16, #weft.sbp<>>>
!b = !task.buffer<tensor<4xf32, #weft.sbp<>>>
task.program @apart on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %1 = task.buffer "1" input : !x
  %2 = task.buffer "2" input : !x
  %3 = task.buffer "3" input : !x
  %b = task.buffer "b" activation : !b
  %k = task.buffer "k" activation : !k
  %r = task.buffer "r" activation : !r
  %s = task.buffer "s" activation : !s
  %w = task.buffer "w" activation : !w
  %h = task.buffer "h" activation : !h
  %4 = task.buffer "4" input : !s
  %5 = task.buffer "5" input : !s
  task.kernel "einsum" ins(%x, %1 : !x, !x) outs(%w : !w) {equation = "bsi,bso->io"} micro
  task.kernel "reduce" ins(%1 : !x) outs(%b : !b) {dims = [0, 1], kind = "max"} micro
  task.kernel "reduce" ins(%1 : !x) outs(%k : !k) {dims = [0, 1], keep_dims = 1 : i64, kind = "sum"} micro
  task.kernel "reduce" ins(%1 : !x) outs(%r : !r) {dims = [2], kind = "sum"} micro
  task.kernel "reduce" ins(%1 : !x) outs(%s : !s) {dims = [0], kind = "sum"} micro
  task.kernel "reduce" ins(%x : !x) outs(%b : !b) {dims = [0, 1], kind = "sum"} micro
  task.kernel "einsum" ins(%4, %5 : !s, !s) outs(%b : !b) {equation = "so,so->o"} micro
  task.kernel "reduce" ins(%5 : !s) outs(%b : !b) {dims = [0], kind = "sum"} micro
  task.kernel "einsum" ins(%x, %2 : !x, !x) outs(%h : !h) {equation = "bsi,bso->io"} micro
  task.kernel "reduce" ins(%2 : !x) outs(%b : !b) {dims = [0, 1], kind = "sum"} micro
  task.kernel "einsum" ins(%x, %3 : !x, !x) outs(%w : !w) {equation = "bsi,bso->io"} micro {phase = "weight"}
  task.kernel "reduce" ins(%3 : !x) outs(%b : !b) {dims = [0, 1], kind = "sum"} micro {phase = "backward"}
}

// -----
// Gradients of one tensor: the first product is written, the others add to it, where they are.
// CHECK-LABEL: task.program @three
// CHECK: task.kernel "einsum" ins(%[[A:.*]], %[[W:.*]] : {{.*}}) outs(%[[ONE:.*]] : {{.*}}) {equation = "so,io->si"} micro {phase = "backward"}
// CHECK: task.kernel "einsum" ins(%{{.*}}, %{{.*}}, %[[ONE]] : {{.*}}) outs(%[[TWO:.*]] : {{.*}}) {epilogue = "add", equation = "so,io->si"} micro in_place [2] {phase = "backward"}
// CHECK: task.kernel "einsum" ins(%{{.*}}, %{{.*}}, %[[TWO]] : {{.*}}) outs(%[[SUM:.*]] : {{.*}}) {epilogue = "add", equation = "so,io->si"} micro in_place [2] {phase = "backward"}
// CHECK: task.kernel "gelu"
// CHECK-NOT: task.kernel "add_n"
// CHECK: task.kernel "silu" ins(%[[SUM]]
!x = !task.buffer<tensor<4x4xbf16, #weft.sbp<P>>>
!d = !task.buffer<tensor<4x4xbf16, #weft.sbp<S(1)>>>
!w = !task.buffer<tensor<4x4xbf16, #weft.sbp<S(1)>>>
task.program @three on #weft.placement<"cuda", [tensor = 2], [0, 1]> micro_batches(1) {
  %d1 = task.buffer "d1" input : !d
  %d2 = task.buffer "d2" input : !d
  %d3 = task.buffer "d3" input : !d
  %w = task.buffer "w" input : !w
  %1 = task.buffer "1" activation : !x
  %2 = task.buffer "2" activation : !x
  %3 = task.buffer "3" activation : !x
  task.kernel "einsum" ins(%d1, %w : !d, !w) outs(%1 : !x) {equation = "so,io->si"} micro {phase = "backward"}
  task.kernel "einsum" ins(%d2, %w : !d, !w) outs(%2 : !x) {equation = "so,io->si"} micro {phase = "backward"}
  task.kernel "einsum" ins(%d3, %w : !d, !w) outs(%3 : !x) {equation = "so,io->si"} micro {phase = "backward"}
  %e = task.buffer "e" output : !d
  task.kernel "gelu" ins(%d1 : !d) outs(%e : !d) {} micro {phase = "backward"}
  %sum = task.buffer "sum" activation : !x
  task.kernel "add_n" ins(%3, %1, %2 : !x, !x, !x) outs(%sum : !x) {} micro in_place [0] {phase = "backward"}
  %y = task.buffer "y" output : !x
  task.kernel "silu" ins(%sum : !x) outs(%y : !x) {} micro {phase = "backward"}
}

// -----
// One other term is what the product adds to, if it is there by then; two are too many, and a sum of the forward stays.
// CHECK-LABEL: task.program @other
// CHECK: task.kernel "einsum" ins(%{{.*}}, %{{.*}}, %[[OTHER:.*]] : {{.*}}) outs(%{{.*}}) {epilogue = "add", equation = "so,io->si"} micro in_place [2] {phase = "backward"}
// CHECK: task.kernel "gelu" ins(%{{.*}}) outs(%[[LATE:.*]] :
// CHECK-NEXT: task.kernel "add" ins(%{{.*}}, %[[LATE]] :
// CHECK: task.kernel "add_n"
// CHECK: task.kernel "add"
!x = !task.buffer<tensor<4x4xbf16, #weft.sbp<>>>
task.program @other on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %d = task.buffer "d" input : !x
  %w = task.buffer "w" input : !x
  %other = task.buffer "other" input : !x
  %1 = task.buffer "1" activation : !x
  %y1 = task.buffer "y1" output : !x
  task.kernel "einsum" ins(%d, %w : !x, !x) outs(%1 : !x) {equation = "so,io->si"} micro {phase = "backward"}
  task.kernel "add" ins(%1, %other : !x, !x) outs(%y1 : !x) {} micro {phase = "backward"}
  %2 = task.buffer "2" activation : !x
  %late = task.buffer "late" activation : !x
  %y2 = task.buffer "y2" output : !x
  task.kernel "einsum" ins(%d, %w : !x, !x) outs(%2 : !x) {equation = "so,io->si"} micro {phase = "backward"}
  task.kernel "gelu" ins(%d : !x) outs(%late : !x) {} micro {phase = "backward"}
  task.kernel "add" ins(%2, %late : !x, !x) outs(%y2 : !x) {} micro {phase = "backward"}
  %3 = task.buffer "3" activation : !x
  %y3 = task.buffer "y3" output : !x
  task.kernel "einsum" ins(%d, %w : !x, !x) outs(%3 : !x) {equation = "so,io->si"} micro {phase = "backward"}
  task.kernel "add_n" ins(%3, %other, %d : !x, !x, !x) outs(%y3 : !x) {} micro {phase = "backward"}
  %4 = task.buffer "4" activation : !x
  %y4 = task.buffer "y4" output : !x
  task.kernel "einsum" ins(%d, %w : !x, !x) outs(%4 : !x) {equation = "so,io->si"} micro
  task.kernel "add" ins(%4, %other : !x, !x) outs(%y4 : !x) {} micro
}
