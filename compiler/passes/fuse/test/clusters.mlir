// RUN: weft-opt %s --weft-fuse-clusters -split-input-file | FileCheck %s
// RUN: weft-opt %s --weft-fuse-clusters=joins=0 -split-input-file | FileCheck %s --check-prefix=APART

// A bias, GELU and the next addition, which reads what GELU is applied to as well: one kernel, and the sum stays.
// CHECK-LABEL: task.program @joined
// CHECK-NOT: "gelu"
// CHECK: task.kernel "add+gelu+add" ins(%[[X:.*]], %[[B:.*]] : {{.*}}) outs(%[[SUM:.*]], %[[Y:.*]] : {{.*}}) {} micro in_place [0, -1] cost [0.000000e+00, 3.000000e+00, 1.792000e+03] cell @k0_add_gelu_add
// CHECK-NEXT: task.kernel "einsum"
// CHECK: cell.kernel @k0_add_gelu_add domain [2, 64] row 1 strides [array<i64: 64, 1>, array<i64: 0, 1>, array<i64: 64, 1>, array<i64: 64, 1>]
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[ADD:.*]] = arith.addf %[[A]], %{{.*}}
// CHECK: arith.divf
// CHECK-NEXT: %[[GELU:.*]] = arith.mulf %[[ADD]], %{{.*}}
// CHECK-NEXT: %[[LAST:.*]] = arith.addf %[[ADD]], %[[GELU]]
// CHECK-NEXT: cell.yield %[[ADD]], %[[LAST]]
// APART-LABEL: task.program @joined
// APART: task.kernel "add" {{.*}} cell @k0_add
// APART: task.kernel "gelu" {{.*}} cell @k1_gelu
// APART: task.kernel "add" {{.*}} cell @k2_add
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<>>>
task.program @joined on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %b = task.buffer "b" parameter : !b
  %sum = task.buffer "sum" activation : !x
  %gelu = task.buffer "gelu" activation : !x
  %y = task.buffer "y" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "add" ins(%x, %b : !x, !b) outs(%sum : !x) {} micro cost [0.0, 1.0, 1280.0]
  task.kernel "gelu" ins(%sum : !x) outs(%gelu : !x) {approximate = "tanh"} micro cost [0.0, 1.0, 1024.0]
  task.kernel "add" ins(%sum, %gelu : !x, !x) outs(%y : !x) {} micro cost [0.0, 1.0, 1536.0]
  task.kernel "einsum" ins(%sum, %y : !x, !x) outs(%x : !x) {equation = "ij,ij->ij"} micro
}

// -----
// Nothing joins over another unit, a collective's buffer that is written between, or a GPU.
// CHECK-LABEL: task.program @units
// CHECK: task.kernel "neg"
// CHECK: task.kernel "abs"
// CHECK: task.kernel "square"
!x = !task.buffer<tensor<2x8xf32, #weft.sbp<>>>
task.program @units on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %a = task.buffer "a" activation : !x
  %b = task.buffer "b" activation : !x
  %c = task.buffer "c" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "neg" ins(%x : !x) outs(%a : !x) {} micro {phase = "forward"}
  task.kernel "abs" ins(%a : !x) outs(%b : !x) {} micro {phase = "backward"}
  task.kernel "square" ins(%b : !x) outs(%c : !x) {} step
}

// -----
// What a part reads is written before the place of the joined kernel: they stay apart.
// CHECK-LABEL: task.program @written
// CHECK: task.kernel "neg"
// CHECK: task.kernel "fill"
// CHECK: task.kernel "add"
!x = !task.buffer<tensor<2x8xf32, #weft.sbp<>>>
task.program @written on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" parameter : !x
  %a = task.buffer "a" activation : !x
  %c = task.buffer "c" activation : !x
  task.kernel "neg" ins(%x : !x) outs(%a : !x) {} micro
  task.kernel "fill" outs(%x : !x) {} micro
  task.kernel "add" ins(%a, %x : !x, !x) outs(%c : !x) {} micro
}

// -----
// By views: rows of a norm, and the same memory as a longer tensor. Equal kernels are one cell.kernel.
// CHECK-LABEL: task.program @views
// CHECK: task.kernel "neg+rms_norm" ins({{.*}}) outs({{.*}}) {} micro in_place [0, -1] cell @k0_neg_rms_norm
// CHECK: task.kernel "neg+rms_norm" {{.*}} cell @k0_neg_rms_norm
// CHECK: cell.kernel @k0_neg_rms_norm domain [2, 4, 64] row 64
// CHECK-NOT: cell.kernel
!x = !task.buffer<tensor<2x4x64xf32, #weft.sbp<>>>
!flat = !task.buffer<tensor<512xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<64xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
task.program @views on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %x = task.buffer "x" activation : !flat
  %x2 = task.buffer "x2" activation : !flat
  %w = task.buffer "w" parameter : !w
  %a = task.buffer "a" activation : !flat
  %view = task.alias %a : !flat as !x
  %y = task.buffer "y" activation : !x
  %r = task.buffer "r" activation : !s
  %b = task.buffer "b" activation : !flat
  %view2 = task.alias %b : !flat as !x
  %y2 = task.buffer "y2" activation : !x
  %r2 = task.buffer "r2" activation : !s
  task.kernel "fill" outs(%x : !flat) {} micro
  task.kernel "fill" outs(%x2 : !flat) {} micro
  task.kernel "neg" ins(%x : !flat) outs(%a : !flat) {} micro
  task.kernel "rms_norm" ins(%view, %w : !x, !w) outs(%y, %r : !x, !s) {eps = 1.0e-5} micro
  task.kernel "neg" ins(%x2 : !flat) outs(%b : !flat) {} micro
  task.kernel "rms_norm" ins(%view2, %w : !x, !w) outs(%y2, %r2 : !x, !s) {eps = 1.0e-5} micro
}

// -----
// A bias that is gathered for layer 0 stays there; without the gather the addition goes with the norm of layer 1.
// CHECK-LABEL: task.program @gathered
// CHECK: task.kernel "add" {{.*}} {scope = "h.0.mlp"}
// CHECK: task.kernel "neg+neg" {{.*}} {scope = "h.1.ln"}
!x = !task.buffer<tensor<2x64xf32, #weft.sbp<B>>>
!b = !task.buffer<tensor<64xf32, #weft.sbp<B>>>
!share = !task.buffer<tensor<64xf32, #weft.sbp<S(0)>>>
task.program @gathered on #weft.placement<"cpu", [data = 2], [0, 1]> micro_batches(1) {
  %x = task.buffer "x" activation : !x
  %share = task.buffer "share" parameter : !share
  %b = task.buffer "b" communication : !b
  %y = task.buffer "y" activation : !x
  %z = task.buffer "z" activation : !x
  %n = task.buffer "n" activation : !x
  %out = task.buffer "out" activation : !x
  task.kernel "fill" outs(%x : !x) {} micro
  task.collective all_gather [0] dim 0 %share to %b micro {on_use, scope = "h.0.mlp"} : !share, !b
  task.kernel "add" ins(%x, %b : !x, !b) outs(%y : !x) {} micro {scope = "h.0.mlp"}
  task.kernel "abs" ins(%y : !x) outs(%z : !x) {} micro {scope = "h.1.ln"}
  task.kernel "neg" ins(%x : !x) outs(%n : !x) {} micro {scope = "h.0.mlp"}
  task.kernel "neg" ins(%n : !x) outs(%out : !x) {} micro {scope = "h.1.ln"}
}
