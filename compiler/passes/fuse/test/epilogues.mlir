// RUN: weft-opt %s --weft-fuse-epilogues -split-input-file | FileCheck %s

// A bias: the sum is no buffer any more, and what it cost to write and to read goes (2 x 16 bytes of 88).
// CHECK-LABEL: task.program @bias
// CHECK-NOT: "sum"
// CHECK: task.kernel "einsum" ins(%[[X:.*]], %[[W:.*]], %[[B:.*]] : {{.*}}) outs(%[[Y:.*]] : {{.*}}) {epilogue = "bias", equation = "si,io->so"} micro {scope = "a"} cost [3.200000e+01, 4.000000e+00, 5.600000e+01]
// CHECK-NEXT: }
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4x2xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<2xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<2x2xf32, #weft.sbp<>>>
task.program @bias on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %w = task.buffer "w" parameter : !w
  %b = task.buffer "b" parameter : !b
  %sum = task.buffer "sum" activation : !y
  %y = task.buffer "y" activation : !y
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%sum : !y) {equation = "si,io->so"} micro {scope = "a"} cost [32.0, 0.0, 48.0]
  task.kernel "add" ins(%sum, %b : !y, !b) outs(%y : !y) {} micro in_place [0] {scope = "b"} cost [0.0, 4.0, 40.0]
}

// -----
// On the host kernels are generated.
// CHECK-LABEL: task.program @host
// CHECK: task.kernel "einsum" {{.*}} {equation = "si,io->so"}
// CHECK-NEXT: task.kernel "add"
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4x2xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<2xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<2x2xf32, #weft.sbp<>>>
task.program @host on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %w = task.buffer "w" parameter : !w
  %b = task.buffer "b" parameter : !b
  %sum = task.buffer "sum" activation : !y
  %y = task.buffer "y" activation : !y
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%sum : !y) {equation = "si,io->so"} micro cost [32.0, 0.0, 48.0]
  task.kernel "add" ins(%sum, %b : !y, !b) outs(%y : !y) {} micro cost [0.0, 4.0, 40.0]
}

// -----
// The bias may be the first operand, and declared behind the product; the kernel comes where the addition was.
// CHECK-LABEL: task.program @first
// CHECK: task.kernel "fill"
// CHECK: task.kernel "einsum" {{.*}} {epilogue = "bias", equation = "si,io->so"} micro
// CHECK-NOT: task.kernel
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4x2xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<2xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<2x2xf32, #weft.sbp<>>>
task.program @first on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %w = task.buffer "w" parameter : !w
  %sum = task.buffer "sum" activation : !y
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%sum : !y) {equation = "si,io->so"} micro
  %b = task.buffer "b" activation : !b
  task.kernel "fill" outs(%b : !b) {} micro
  %y = task.buffer "y" activation : !y
  task.kernel "add" ins(%b, %sum : !b, !y) outs(%y : !y) {} micro in_place [1]
}

// -----
// No bias joins: two read the sum; a view does; it is pending, with a bias that is whole or pending; the bias is of another type; goes along rows; has all
// dims; is of letters of both operands; the addition is of another phase or chunk; runs once a step.
// CHECK-LABEL: task.program @apart
// CHECK-COUNT-11: task.kernel "einsum" ins(%{{[^,]*}}, %{{[^,]*}} : {{.*}}) outs({{.*}}) {equation = "{{.*}}"}
// CHECK-NOT: task.kernel "einsum"
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<B>>>
!xs = !task.buffer<tensor<2x4xf32, #weft.sbp<S(1)>>>
!ws = !task.buffer<tensor<4x2xf32, #weft.sbp<S(0)>>>
!w = !task.buffer<tensor<4x2xf32, #weft.sbp<B>>>
!b = !task.buffer<tensor<2xf32, #weft.sbp<B>>>
!h = !task.buffer<tensor<2xbf16, #weft.sbp<B>>>
!c = !task.buffer<tensor<2x1xf32, #weft.sbp<B>>>
!y = !task.buffer<tensor<2x2xf32, #weft.sbp<B>>>
!v = !task.buffer<tensor<4xf32, #weft.sbp<B>>>
!p = !task.buffer<tensor<2x2xf32, #weft.sbp<P>>>
!bp = !task.buffer<tensor<2xf32, #weft.sbp<P>>>
task.program @apart on #weft.placement<"cuda", [tensor = 2], [0, 1]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %xs = task.buffer "xs" input : !xs
  %w = task.buffer "w" parameter : !w
  %ws = task.buffer "ws" parameter : !ws
  %b = task.buffer "b" parameter : !b
  %bp = task.buffer "bp" parameter : !bp
  %h = task.buffer "h" parameter : !h
  %c = task.buffer "c" parameter : !c
  %1 = task.buffer "1" activation : !y
  %2 = task.buffer "2" activation : !y
  %3 = task.buffer "3" activation : !p
  %4 = task.buffer "4" activation : !y
  %5 = task.buffer "5" activation : !y
  %6 = task.buffer "6" activation : !y
  %8 = task.buffer "8" activation : !y
  %9 = task.buffer "9" activation : !y
  %10 = task.buffer "10" activation : !y
  %11 = task.buffer "11" activation : !y
  %y = task.buffer "y" activation : !y
  %q = task.buffer "q" activation : !p
  %12 = task.buffer "12" activation : !p
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%1 : !y) {equation = "si,io->so"} micro
  task.kernel "add" ins(%1, %b : !y, !b) outs(%y : !y) {} micro
  task.kernel "neg" ins(%1 : !y) outs(%y : !y) {} micro
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%2 : !y) {equation = "si,io->so"} micro
  %view = task.alias %2 : !y as !v
  task.kernel "add" ins(%2, %b : !y, !b) outs(%y : !y) {} micro
  task.kernel "einsum" ins(%xs, %ws : !xs, !ws) outs(%3 : !p) {equation = "si,io->so"} micro
  task.kernel "add" ins(%3, %bp : !p, !bp) outs(%q : !p) {} micro
  task.kernel "einsum" ins(%xs, %ws : !xs, !ws) outs(%12 : !p) {equation = "si,io->so"} micro
  task.kernel "add" ins(%12, %b : !p, !b) outs(%q : !p) {} micro
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%4 : !y) {equation = "si,io->so"} micro
  task.kernel "add" ins(%4, %h : !y, !h) outs(%y : !y) {} micro
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%5 : !y) {equation = "si,io->so"} micro
  task.kernel "add" ins(%5, %c : !y, !c) outs(%y : !y) {} micro
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%6 : !y) {equation = "si,io->so"} micro
  task.kernel "add" ins(%6, %1 : !y, !y) outs(%y : !y) {} micro
  task.kernel "einsum" ins(%1, %2 : !y, !y) outs(%8 : !y) {equation = "so,so->so"} micro
  task.kernel "add" ins(%8, %b : !y, !b) outs(%y : !y) {} micro
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%9 : !y) {equation = "si,io->so"} micro
  task.kernel "add" ins(%9, %b : !y, !b) outs(%y : !y) {} micro {phase = "recompute"}
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%10 : !y) {equation = "si,io->so"} micro
  task.kernel "add" ins(%10, %b : !y, !b) outs(%y : !y) {} micro {chunk = 1 : i64}
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%11 : !y) {equation = "si,io->so"} step
  task.kernel "add" ins(%11, %b : !y, !b) outs(%y : !y) {} step
}

// -----
// GELU behind a bias, what it is applied to kept for its gradient; GELU alone, not kept. The exact form stays.
// CHECK-LABEL: task.program @gelu
// CHECK-NOT: "sum"
// CHECK: %[[BEFORE:.*]] = task.buffer "before"
// CHECK-NOT: "alone"
// CHECK: task.kernel "einsum" ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%[[Y:.*]], %[[BEFORE]] : {{.*}}) {epilogue = "bias gelu keep", equation = "si,io->so"} micro
// CHECK: task.kernel "einsum" ins(%{{[^,]*}}, %{{[^,]*}} : {{.*}}) outs(%{{[^,]*}} : {{.*}}) {epilogue = "gelu", equation = "si,io->so"} micro
// CHECK: task.kernel "einsum" {{.*}} {equation = "si,io->so"} micro
// CHECK-NEXT: task.kernel "gelu" {{.*}} {approximate = "none"}
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4x2xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<2xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<2x2xf32, #weft.sbp<>>>
task.program @gelu on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %w = task.buffer "w" parameter : !w
  %b = task.buffer "b" parameter : !b
  %sum = task.buffer "sum" activation : !y
  %before = task.buffer "before" activation : !y
  %y = task.buffer "y" activation : !y
  %dy = task.buffer "dy" activation : !y
  %alone = task.buffer "alone" activation : !y
  %z = task.buffer "z" activation : !y
  %exact = task.buffer "exact" activation : !y
  %u = task.buffer "u" activation : !y
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%sum : !y) {equation = "si,io->so"} micro
  task.kernel "add" ins(%sum, %b : !y, !b) outs(%before : !y) {} micro in_place [0]
  task.kernel "gelu" ins(%before : !y) outs(%y : !y) {approximate = "tanh"} micro in_place [0]
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%alone : !y) {equation = "si,io->so"} micro
  task.kernel "gelu" ins(%alone : !y) outs(%z : !y) {approximate = "tanh"} micro in_place [0]
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%exact : !y) {equation = "si,io->so"} micro
  task.kernel "gelu" ins(%exact : !y) outs(%u : !y) {approximate = "none"} micro in_place [0]
  task.kernel "gelu_grad" ins(%y, %before : !y, !y) outs(%dy : !y) {approximate = "tanh"} micro {phase = "backward"}
}

// -----
// GELU that is computed again is computed by the same kernel both times: only the bias joins in the forward, and all of
// a product that is itself computed again.
// CHECK-LABEL: task.program @again
// CHECK: task.kernel "einsum" {{.*}} {epilogue = "bias", equation = "si,io->so"} micro
// CHECK-NEXT: task.kernel "gelu"
// CHECK-NEXT: task.kernel "gelu" {{.*}} {phase = "recompute"}
// CHECK: task.kernel "einsum" {{.*}} {epilogue = "bias gelu", equation = "si,io->so"} micro {phase = "recompute"}
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4x2xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<2xf32, #weft.sbp<>>>
!y = !task.buffer<tensor<2x2xf32, #weft.sbp<>>>
task.program @again on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %w = task.buffer "w" parameter : !w
  %b = task.buffer "b" parameter : !b
  %1 = task.buffer "1" activation : !y
  %2 = task.buffer "2" activation : !y
  %3 = task.buffer "3" activation : !y
  %4 = task.buffer "4" activation : !y
  %5 = task.buffer "5" activation : !y
  %6 = task.buffer "6" activation : !y
  %7 = task.buffer "7" activation : !y
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%1 : !y) {equation = "si,io->so"} micro
  task.kernel "add" ins(%1, %b : !y, !b) outs(%2 : !y) {} micro
  task.kernel "gelu" ins(%2 : !y) outs(%3 : !y) {approximate = "tanh"} micro
  task.kernel "gelu" ins(%2 : !y) outs(%4 : !y) {approximate = "tanh"} micro {phase = "recompute"}
  task.kernel "einsum" ins(%x, %w : !x, !w) outs(%5 : !y) {equation = "si,io->so"} micro {phase = "recompute"}
  task.kernel "add" ins(%5, %b : !y, !b) outs(%6 : !y) {} micro {phase = "recompute"}
  task.kernel "gelu" ins(%6 : !y) outs(%7 : !y) {approximate = "tanh"} micro {phase = "recompute"}
}
