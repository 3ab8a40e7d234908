// RUN: weft-opt %s --weft-fuse-norms -split-input-file | FileCheck %s

// What was dropped out, or what is read there alone, joins the residual stream in the norm's pass, and may give its bytes to the sum.
// CHECK-LABEL: task.program @forward
// CHECK-NOT: "dropped"
// CHECK: task.kernel "residual_layer_norm" ins(%[[X:.*]], %[[Y:.*]], %[[W:.*]], %[[B:.*]] : {{.*}}) outs(%[[SUM:.*]], %[[N:.*]], %[[MEAN:.*]], %[[RSTD:.*]] : {{.*}}) {eps = 1.000000e-05 : f64, rate = 1.000000e-01 : f64, seed = 7 : i64} micro in_place [1, -1, -1, -1] {scope = "h.0.ln_2"} cost [0.000000e+00, 2.400000e+01, 1.760000e+02]
// CHECK-NEXT: task.kernel "residual_rms_norm" ins(%[[Y]], %[[SUM]], %[[W]] : {{.*}}) outs(%{{.*}}, %{{.*}} : {{.*}}) {eps = 1.000000e-05 : f64} micro in_place [1, -1]
// CHECK-NEXT: }
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<2xf32, #weft.sbp<>>>
task.program @forward on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %y = task.buffer "y" input : !x
  %w = task.buffer "w" parameter : !w
  %b = task.buffer "b" parameter : !w
  %dropped = task.buffer "dropped" activation : !x
  %sum = task.buffer "sum" activation : !x
  %n = task.buffer "n" activation : !x
  %mean = task.buffer "mean" activation : !s
  %rstd = task.buffer "rstd" activation : !s
  %sum2 = task.buffer "sum2" activation : !x
  %n2 = task.buffer "n2" activation : !x
  task.kernel "dropout" ins(%y : !x) outs(%dropped : !x) {rate = 0.1, seed = 7 : i64} micro in_place [0] cost [0.0, 8.0, 64.0]
  task.kernel "add" ins(%x, %dropped : !x, !x) outs(%sum : !x) {} micro in_place [0] {scope = "h.0"} cost [0.0, 8.0, 96.0]
  task.kernel "layer_norm" ins(%sum, %w, %b : !x, !w, !w) outs(%n, %mean, %rstd : !x, !s, !s) {eps = 1.0e-5} micro {scope = "h.0.ln_2"} cost [0.0, 8.0, 112.0]
  task.kernel "add" ins(%sum, %y : !x, !x) outs(%sum2 : !x) {} micro in_place [0]
  task.kernel "rms_norm" ins(%sum2, %w : !x, !w) outs(%n2 : !x) {eps = 1.0e-5} micro
}

// -----
// Only the dropout stays where two read it; everything where the sum is pending, broadcasts, is of another type, phase
// or chunk.
// CHECK-LABEL: task.program @apart
// CHECK: task.kernel "dropout"
// CHECK-NEXT: task.kernel "residual_rms_norm" ins(%0, %{{[0-9]+}}, {{.*}} {eps = 1.000000e-05 : f64} micro in_place [1, -1]
// CHECK-COUNT-5: task.kernel "rms_norm"
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<B>>>
!p = !task.buffer<tensor<2x4xf32, #weft.sbp<P>>>
!h = !task.buffer<tensor<2x4xbf16, #weft.sbp<B>>>
!w = !task.buffer<tensor<4xf32, #weft.sbp<B>>>
task.program @apart on #weft.placement<"cuda", [tensor = 2], [0, 1]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %y = task.buffer "y" input : !x
  %p = task.buffer "p" input : !p
  %h = task.buffer "h" input : !h
  %w = task.buffer "w" parameter : !w
  %dropped = task.buffer "dropped" activation : !x
  %1 = task.buffer "1" activation : !x
  %2 = task.buffer "2" activation : !p
  %3 = task.buffer "3" activation : !x
  %4 = task.buffer "4" activation : !x
  %5 = task.buffer "5" activation : !x
  %6 = task.buffer "6" activation : !x
  %n1 = task.buffer "n1" activation : !x
  %n2 = task.buffer "n2" activation : !p
  %n = task.buffer "n" activation : !x
  task.kernel "dropout" ins(%y : !x) outs(%dropped : !x) {rate = 0.1, seed = 7 : i64} micro
  task.kernel "add" ins(%x, %dropped : !x, !x) outs(%1 : !x) {} micro
  task.kernel "rms_norm" ins(%1, %w : !x, !w) outs(%n1 : !x) {eps = 1.0e-5} micro
  task.kernel "neg" ins(%dropped : !x) outs(%n : !x) {} micro
  task.kernel "add" ins(%p, %p : !p, !p) outs(%2 : !p) {} micro
  task.kernel "rms_norm" ins(%2, %w : !p, !w) outs(%n2 : !p) {eps = 1.0e-5} micro
  task.kernel "add" ins(%x, %w : !x, !w) outs(%3 : !x) {} micro
  task.kernel "rms_norm" ins(%3, %w : !x, !w) outs(%n : !x) {eps = 1.0e-5} micro
  task.kernel "add" ins(%x, %h : !x, !h) outs(%4 : !x) {} micro
  task.kernel "rms_norm" ins(%4, %w : !x, !w) outs(%n : !x) {eps = 1.0e-5} micro
  task.kernel "add" ins(%x, %y : !x, !x) outs(%5 : !x) {} micro
  task.kernel "rms_norm" ins(%5, %w : !x, !w) outs(%n : !x) {eps = 1.0e-5} micro {phase = "recompute"}
  task.kernel "add" ins(%x, %y : !x, !x) outs(%6 : !x) {} micro
  task.kernel "rms_norm" ins(%6, %w : !x, !w) outs(%n : !x) {eps = 1.0e-5} micro {chunk = 1 : i64}
}

// -----
// A gradient takes over the addition of the stream's and the dropout of the sum, which others read too; or the dropout
// alone.
// CHECK-LABEL: task.program @backward
// CHECK-NOT: "gradient"
// CHECK: task.kernel "residual_layer_norm_grad" ins(%[[DY:.*]], %[[X:.*]], %[[W:.*]], %[[MEAN:.*]], %[[RSTD:.*]], %[[PAST:.*]] : {{.*}}) outs(%[[SUM:.*]], %[[DW:.*]], %[[DB:.*]], %[[DROPPED:.*]] : {{.*}}) {rate = 1.000000e-01 : f64, seed = 7 : i64} micro in_place [0, -1, -1, -1] {phase = "backward"}
// CHECK-NEXT: task.kernel "residual_rms_norm_grad" ins(%[[SUM]], %[[X]], %[[W]], %[[RSTD]] : {{.*}}) outs(%[[G:.*]], %{{.*}}, %[[D:.*]] : {{.*}}) {rate = 2.000000e-01 : f64, seed = 8 : i64} micro in_place [0, -1, -1] {phase = "backward"}
// CHECK-NEXT: task.kernel "neg" ins(%[[G]]
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<2xf32, #weft.sbp<>>>
task.program @backward on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %dy = task.buffer "dy" input : !x
  %x = task.buffer "x" input : !x
  %w = task.buffer "w" parameter : !w
  %mean = task.buffer "mean" input : !s
  %rstd = task.buffer "rstd" input : !s
  %past = task.buffer "past" input : !x
  %gradient = task.buffer "gradient" activation : !x
  %dw = task.buffer "dw" activation : !w
  %db = task.buffer "db" activation : !w
  %dw2 = task.buffer "dw2" activation : !w
  %sum = task.buffer "sum" activation : !x
  %dropped = task.buffer "dropped" activation : !x
  %g = task.buffer "g" activation : !x
  %d = task.buffer "d" activation : !x
  %n = task.buffer "n" activation : !x
  task.kernel "layer_norm_grad" ins(%dy, %x, %w, %mean, %rstd : !x, !x, !w, !s, !s) outs(%gradient, %dw, %db : !x, !w, !w) {} micro {phase = "backward"}
  task.kernel "add" ins(%past, %gradient : !x, !x) outs(%sum : !x) {} micro in_place [0] {phase = "backward"}
  task.kernel "dropout" ins(%sum : !x) outs(%dropped : !x) {rate = 0.1, seed = 7 : i64} micro {phase = "backward"}
  task.kernel "rms_norm_grad" ins(%sum, %x, %w, %rstd : !x, !x, !w, !s) outs(%g, %dw2 : !x, !w) {} micro {phase = "backward"}
  task.kernel "dropout" ins(%g : !x) outs(%d : !x) {rate = 0.2, seed = 8 : i64} micro {phase = "backward"}
  task.kernel "neg" ins(%g : !x) outs(%n : !x) {} micro {phase = "backward"}
}

// -----
// Two dropouts of one gradient, or one that is computed again, stay; so does an addition to itself.
// CHECK-LABEL: task.program @alone
// CHECK-COUNT-3: task.kernel "rms_norm_grad"
!x = !task.buffer<tensor<2x4xf32, #weft.sbp<>>>
!w = !task.buffer<tensor<4xf32, #weft.sbp<>>>
!s = !task.buffer<tensor<2xf32, #weft.sbp<>>>
task.program @alone on #weft.placement<"cuda", [], [0]> micro_batches(1) {
  %x = task.buffer "x" input : !x
  %w = task.buffer "w" parameter : !w
  %rstd = task.buffer "rstd" input : !s
  %dw = task.buffer "dw" activation : !w
  %1 = task.buffer "1" activation : !x
  %2 = task.buffer "2" activation : !x
  %3 = task.buffer "3" activation : !x
  %d = task.buffer "d" activation : !x
  task.kernel "rms_norm_grad" ins(%x, %x, %w, %rstd : !x, !x, !w, !s) outs(%1, %dw : !x, !w) {} micro
  task.kernel "dropout" ins(%1 : !x) outs(%d : !x) {rate = 0.1, seed = 7 : i64} micro
  task.kernel "dropout" ins(%1 : !x) outs(%d : !x) {rate = 0.1, seed = 8 : i64} micro
  task.kernel "rms_norm_grad" ins(%x, %x, %w, %rstd : !x, !x, !w, !s) outs(%2, %dw : !x, !w) {} micro
  task.kernel "dropout" ins(%2 : !x) outs(%d : !x) {rate = 0.1, seed = 7 : i64} micro {phase = "recompute"}
  task.kernel "rms_norm_grad" ins(%x, %x, %w, %rstd : !x, !x, !w, !s) outs(%3, %dw : !x, !w) {} micro
  task.kernel "add" ins(%3, %3 : !x, !x) outs(%d : !x) {} micro
}
